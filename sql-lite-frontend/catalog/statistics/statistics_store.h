#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/catalog/table.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// pg_statistic: a tree of its own, read when a table is planned for the first time. Thread-safe.
///
/// Relations of all databases have different numbers. Records: (relation, 0) → f64 rows as of then;
/// (relation, column) → the results of ANALYZE.
class StatisticsStore {
 public:
  /// Makes the tree when the database has none; `catalog` keeps its number.
  static std::unique_ptr<StatisticsStore> open(Engine& engine, const Tree& catalog);
  StatisticsStore(const StatisticsStore&) = delete;
  StatisticsStore& operator=(const StatisticsStore&) = delete;
  ~StatisticsStore() = default;

  /// Returns the statistics as of the newest commit, for a table in its committed form. Null: never
  /// analyzed.
  StatisticsPtr of(const Table& table);
  /// On a standby, whose primary counts: forgets what was read.
  void forget_known();
  /// Returns the statistics as `transaction` sees them.
  StatisticsPtr read(Transaction& transaction, Oid relation) const;
  void write(Transaction& transaction, Oid relation, const TableStatistics& statistics);
  void remove(Transaction& transaction, Oid relation);

 private:
  StatisticsStore(Engine& engine, std::optional<Tree> tree) : engine_(engine), tree_(tree) {}

  /// Statistics change with their table's version, which ANALYZE raises.
  struct Known {
    std::uint64_t version;
    StatisticsPtr statistics;
  };
  Engine& engine_;
  std::optional<Tree> tree_;  ///< none: a salvage that cannot find it, and plans without statistics
  std::mutex mutex_;
  std::unordered_map<Oid, Known> known_;
};

}  // namespace swizzle::sql
