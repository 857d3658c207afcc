#pragma once

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/ids.h"
#include "sql-lite-frontend/catalog/sharded_counters.h"

namespace swizzle::sql {

/// Events counted for a table, or for one of its indexes.
enum class Counted : std::uint8_t {
  sequential_scans,
  sequential_rows,
  index_scans,
  index_rows,  ///< rows fetched through an index; of an index: entries returned
  inserted,
  updated,
  removed,
  /// Leaves of the table's tree, or of the index's, that were asked for: but for the one that each
  /// row written to the table needs, which the three above count.
  leaves,
};

/// Pages of a relation that came from the data file, since pg_stat_reset(). The engine counts them
/// by tree. A relation that gets another tree, as by TRUNCATE, keeps the last known count of the
/// former one. Thread-safe.
class PageReads {
 public:
  /// `read`: of `tree`, which the relation has now, since the start.
  [[nodiscard]] std::uint64_t since_reset(TreeId tree, std::uint64_t read) {
    const std::lock_guard lock{mutex_};
    return look(tree, read) - before_reset_;
  }
  void reset(TreeId tree, std::uint64_t read) {
    const std::lock_guard lock{mutex_};
    before_reset_ = look(tree, read);
  }

 private:
  std::uint64_t look(TreeId tree, std::uint64_t read) noexcept {
    if (tree != tree_) of_former_ += std::exchange(of_tree_, 0);
    tree_ = tree;
    of_tree_ = std::max(of_tree_, read);
    return of_former_ + of_tree_;
  }

  std::mutex mutex_;
  TreeId tree_ = TreeId::directory;
  std::uint64_t of_tree_ = 0;
  std::uint64_t of_former_ = 0;
  std::uint64_t before_reset_ = 0;
};

class TableCounters : public ShardedCounters<Counted> {
 public:
  /// Rows written in any way.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return total(Counted::inserted) + total(Counted::updated) + total(Counted::removed);
  }
  /// Leaves asked for since pg_stat_reset(), with those of the rows that were written.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept {
    return since_reset(Counted::leaves) + since_reset(Counted::inserted) +
           since_reset(Counted::updated) + since_reset(Counted::removed);
  }

  PageReads page_reads;
};

/// Rows of all tables of a database, as pg_stat_database counts them.
struct CountedRows {
  std::uint64_t read = 0;  ///< by reading tables through
  std::uint64_t read_by_index = 0;
  std::uint64_t inserted = 0;
  std::uint64_t updated = 0;
  std::uint64_t removed = 0;

  void add(const TableCounters& table) noexcept {
    read += table.since_reset(Counted::sequential_rows);
    read_by_index += table.since_reset(Counted::index_rows);
    inserted += table.since_reset(Counted::inserted);
    updated += table.since_reset(Counted::updated);
    removed += table.since_reset(Counted::removed);
  }
};

}  // namespace swizzle::sql
