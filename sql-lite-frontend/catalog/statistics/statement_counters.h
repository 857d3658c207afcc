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

/// Counters of one statement shape in one database: the text, with constants replaced where
/// possible.
struct StatementCounters {
  StatementCounters(Oid in, std::string_view statement) : database(in), text(statement) {}
  const Oid database;
  const std::string text;
  ShardedCounters<StatementCounted> counters;
  // Used by the registry, under its mutex.
  std::uint64_t calls_before = 0;  ///< at the last eviction
  double usage = 1;                ///< calls, with older ones weighted less

  /// Returns pg_stat_statements' queryid.
  [[nodiscard]] std::uint64_t query_id() const noexcept {
    return checksum(as_bytes(text), 0) >> 1U;
  }
};
using StatementCountersPtr = std::shared_ptr<StatementCounters>;

/// Registry behind pg_stat_statements: up to kMost statement shapes of all databases. Beyond that,
/// the least used ones are evicted, as in PostgreSQL. Thread-safe. Called when a statement is
/// prepared, not when it runs. An evicted shape that is still running is listed again when it is
/// next prepared.
class StatementRegistry {
 public:
  static constexpr std::size_t kMost = 5000;
  /// Longer texts are truncated; texts that differ only after that share counters.
  static constexpr std::size_t kLongestText = 1024;

  StatementCountersPtr of(Oid database, std::string_view text);
  [[nodiscard]] std::vector<StatementCountersPtr> all() const;

 private:
  void evict();

  mutable std::mutex mutex_;
  std::map<std::pair<Oid, std::string_view>, StatementCountersPtr> shapes_;
};

}  // namespace swizzle::sql
