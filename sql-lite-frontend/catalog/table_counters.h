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

}  // namespace swizzle::sql
