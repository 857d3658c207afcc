#pragma once

#include "sql-lite-frontend/catalog/sharded_counters.h"

namespace swizzle::sql {

/// What is counted about a table, or about one of its indexes.
enum class Counted : std::uint8_t {
  sequential_scans,
  sequential_rows,
  index_scans,
  index_rows,  ///< rows fetched through an index; of an index: entries returned
  inserted,
  updated,
  removed,
};

class TableCounters : public ShardedCounters<Counted> {
 public:
  /// Rows written in any way.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return total(Counted::inserted) + total(Counted::updated) + total(Counted::removed);
  }
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
