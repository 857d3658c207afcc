#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/sharded_counters.h"

namespace swizzle::sql {

enum class StatementCounted : std::uint8_t { calls, rows, nanoseconds };

/// Counters of one statement shape in one database: the text, with literals lifted out where
/// possible.
struct StatementCounters {
  StatementCounters(Oid in, std::string_view statement) : database(in), text(statement) {}
  const Oid database;
  const std::string text;
  ShardedCounters<StatementCounted> counters;
  // Of the registry, under its mutex.
  std::uint64_t calls_before = 0;  ///< at the last eviction
  double usage = 1;                ///< calls, of which older ones count less

  /// Returns pg_stat_statements' queryid.
  [[nodiscard]] std::uint64_t query_id() const noexcept {
    return checksum(as_bytes(text), 0) >> 1U;
  }
};
using StatementCountersPtr = std::shared_ptr<StatementCounters>;

/// pg_stat_statements: the shapes that were run in all databases, up to kMost; then those that ran
/// least go, as in PostgreSQL. Thread-safe; asked once per statement that is prepared, not once per
/// run. A statement that goes on running under counters that were evicted is listed again when it
/// is prepared again.
class StatementRegistry {
 public:
  static constexpr std::size_t kMost = 5000;
  /// Longer texts are cut: two that differ only behind that are one.
  static constexpr std::size_t kLongestText = 1024;

  StatementCountersPtr of(Oid database, std::string_view text);
  [[nodiscard]] std::vector<StatementCountersPtr> all() const;

 private:
  void evict();

  mutable std::mutex mutex_;
  std::map<std::pair<Oid, std::string_view>, StatementCountersPtr> shapes_;
};

}  // namespace swizzle::sql
