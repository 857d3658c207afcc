#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace swizzle {

/// The answers that the sessions of a process, which may be killed at any moment, have got. It is
/// in memory shared with the killer, so it outlives the process.
struct KillOracle {
  static constexpr std::size_t kSessions = 4;
  static constexpr std::size_t kKeys = 600;
  static constexpr std::size_t kMostChanges = 12;

  struct Change {
    std::uint32_t key;
    std::uint64_t before;
    std::uint64_t after;
  };
  /// One session. No other session changes its keys; a key's value follows from its version, 0:
  /// absent.
  struct Session {
    enum class Pending : std::uint32_t {
      none,
      committing,
      acknowledged,
      // States of a two-phase commit. A transaction stays `prepared` until it is finished.
      preparing,
      prepared,
      finishing_by_commit,
      finishing_by_rollback,
    };

    std::array<std::uint64_t, kKeys> committed;
    std::uint64_t next_version;
    std::uint64_t acknowledged;
    /// Published with release and read with acquire, between the two processes: publishes
    /// `changes`.
    std::atomic<Pending> pending;
    std::uint32_t change_count;
    std::array<Change, kMostChanges> changes;
  };

  std::array<Session, kSessions> sessions;
  std::array<std::uint32_t, 2> trees;
  std::atomic<bool> is_created;
  /// Microseconds that the last restart took; 0: it was killed before.
  std::atomic<std::uint64_t> restart_us;
  std::uint64_t in_doubt;
  std::uint64_t half_way_committed;
  std::uint64_t found_prepared;

  /// Compares the pending writes with those found, which must be all or none, and clears them.
  /// Returns a description of the error; empty if everything is as promised.
  enum class Prepared : std::uint8_t { is_not_there, is_there };
  std::string compare(std::size_t session, const std::vector<std::uint64_t>& found,
                      Prepared prepared);

 private:
  std::string settle_pending(Session& session, const std::vector<std::uint64_t>& found);
};

}  // namespace swizzle
