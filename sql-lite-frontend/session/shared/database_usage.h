#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "base/ids.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::sql {

/// Usage of the sessions of one database together.
struct DatabaseUsage {
  std::uint64_t sessions = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t fatal = 0;
  std::uint64_t killed = 0;
  std::uint64_t session_us = 0;
  std::array<std::uint64_t, kUsedKinds> used{};

  /// Adds a client's session; of the server's own sessions only their resources.
  void add_session(const SessionUsage& session, std::uint64_t lasted_us) noexcept;
  void add_use(const SessionUsage& session) noexcept;
  void add(const DatabaseUsage& other) noexcept;
  /// Returns the difference to `before`.
  [[nodiscard]] DatabaseUsage since(const DatabaseUsage& before) const noexcept;
  [[nodiscard]] std::uint64_t of(Used what) const noexcept {
    return used[static_cast<std::size_t>(what)];
  }
};

/// Usage of the sessions that have ended since the start. Guarded by Shared::sessions_mutex, under
/// which a session moves from the running ones to these: a reader of both, under the mutex, counts
/// it once.
struct EndedSessions {
  struct Entry {
    DatabaseUsage usage;
    /// Time of the last pg_stat_reset(), and the counts of all sessions by then.
    std::int64_t reset_at = 0;
    DatabaseUsage before_reset;
  };
  std::map<Oid, Entry> by_database;
};

}  // namespace swizzle::sql
