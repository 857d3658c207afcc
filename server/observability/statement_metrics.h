#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/runtime/duration_histogram.h"
#include "base/sqlstate.h"

namespace swizzle::server {

enum class StatementKind : std::uint8_t {
  select,
  insert,
  update,
  remove,
  copy,
  begin,
  commit,
  rollback,
  definition,
  other,
};
inline constexpr std::size_t kStatementKinds = 10;

[[nodiscard]] std::string_view name_of(StatementKind kind) noexcept;
/// Returns the kind by the tag of CommandComplete.
[[nodiscard]] StatementKind kind_of_tag(std::string_view tag) noexcept;

/// The classes by which errors are counted: the first two characters of their SQLSTATE.
inline constexpr std::array<std::string_view, 16> kErrorClasses{
    "08", "0A", "21", "22", "23", "25", "28", "34", "3D", "40", "42", "53", "54", "55", "57", "XX"};

/// Counts of all sessions' statements. Each thread that runs sessions has a share of its own, so
/// that counting touches no cache line that another thread writes.
class StatementMetrics {
 public:
  /// A thread's share. Only that thread writes it.
  class alignas(128) Share {
   public:
    void note(StatementKind kind, Duration took) noexcept {
      latencies_[static_cast<std::size_t>(kind)].record(took);
    }
    void note_error(SqlState state) noexcept;

   private:
    friend class StatementMetrics;
    std::array<DurationHistogram, kStatementKinds> latencies_;
    /// The last element counts all other classes.
    std::array<std::atomic<std::uint64_t>, kErrorClasses.size() + 1> errors_{};
  };

  struct Totals {
    std::array<DurationHistogram::Counts, kStatementKinds> latencies{};
    std::array<std::uint64_t, kErrorClasses.size() + 1> errors{};
  };

  /// Lives as long as this object.
  Share& share_of_this_thread();
  [[nodiscard]] Totals totals() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<Share>> shares_;
};

}  // namespace swizzle::server
