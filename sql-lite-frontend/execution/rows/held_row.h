#pragma once

#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// The current input row of an operator that returns several rows per input row. Copies values that
/// are in the row arena, because the operator's caller rewinds that arena between rows.
class HeldRow {
 public:
  explicit HeldRow(std::vector<Slot> slots) : slots_(std::move(slots)) {}

  [[nodiscard]] const std::vector<Slot>& slots() const noexcept { return slots_; }

  /// Runs `read`, which puts the next row into the slots or returns false at the end.
  template <class Read>
  bool next(Execution& execution, const Read& read) {
    const Arena::Mark before = execution.row_arena.mark();
    if (!read()) return false;
    // Rows of tables refer to memory that the scan holds: they need no copy.
    const Arena::Mark after = execution.row_arena.mark();
    if (after.chunk != before.chunk || after.used != before.used) keep(execution);
    return true;
  }

  /// Ends the use of the current row.
  void forget() noexcept { clear_for_next_run(arena_); }

 private:
  void keep(Execution& execution) {
    arena_.count_in(execution.memory);
    arena_.reset();
    for (const Slot slot : slots_) execution.slots[slot] = execution.slots[slot].copy_to(arena_);
  }

  std::vector<Slot> slots_;
  Arena arena_;
};

}  // namespace swizzle::sql
