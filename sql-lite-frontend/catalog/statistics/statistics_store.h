#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "sql-lite-frontend/catalog/statistics/table_statistics.h"
#include "sql-lite-frontend/catalog/table.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Store of pg_statistic: a tree of its own. Statistics are read when a table is first planned.
/// Thread-safe.
///
/// The tree has relations of all databases, whose numbers differ. Records: (relation, 0) → f64
/// number of rows at ANALYZE; (relation, column) → the column's statistics.
class StatisticsStore {
 public:
  /// Opens the tree; creates it if the engine has none. `catalog` has its number.
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

  /// Cached statistics. They are valid for one version of the table, which ANALYZE raises.
  struct Known {
    std::uint64_t version;
    StatisticsPtr statistics;
  };
  Engine& engine_;
  std::optional<Tree> tree_;  ///< none: a salvage could not find it, so plans do without statistics
  std::mutex mutex_;
  std::unordered_map<Oid, Known> known_;
};

}  // namespace swizzle::sql
