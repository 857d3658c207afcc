#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sql-lite-frontend/statistics/sharded_counters.h"

namespace swizzle::sql {

enum class StatementCounted : std::uint8_t { calls, rows, nanoseconds };

/// What was counted of one statement shape: the text, literals lifted out where they were.
struct StatementCounters {
  explicit StatementCounters(std::string_view statement) : text(statement) {}
  const std::string text;
  ShardedCounters<StatementCounted> counters;
};
using StatementCountersPtr = std::shared_ptr<StatementCounters>;

/// pg_stat_statements: the shapes of a database that were run, up to kMost. Thread-safe; asked once
/// per statement that is prepared, not once per run.
class StatementRegistry {
 public:
  static constexpr std::size_t kMost = 5000;
  /// Longer texts are cut: two that differ only behind that are one.
  static constexpr std::size_t kLongestText = 1024;

  /// Null when there are too many.
  StatementCountersPtr of(std::string_view text);
  [[nodiscard]] std::vector<StatementCountersPtr> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, StatementCountersPtr, std::less<>> shapes_;
};

}  // namespace swizzle::sql
