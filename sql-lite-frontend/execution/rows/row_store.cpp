#include "sql-lite-frontend/execution/rows/row_store.h"

#include "base/checksum.h"
#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/equality.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

bool RowStore::is_full(const Execution& execution) const noexcept {
  return execution.memory->files != nullptr &&
         (file_ != nullptr || held_bytes() > execution.memory->work_bytes);
}

void RowStore::begin(Execution& execution) {
  has_begun_ = true;
  if (overflow_ == Overflow::to_file_of_run) execution.kept_for_run.push_back(this);
  count_in(values_, execution.memory);
  arena_.count_in(execution.memory);
}

std::size_t RowStore::keep_in_file(Execution& execution) {
  if (!file_) file_ = std::make_unique<InFile>(*execution.memory);
  file_->places.push_back(file_->rows.append(execution, slots_));
  return in_memory_ + file_->places.size() - 1;
}

void RowStore::restore_from_file(Execution& execution, std::size_t row) const {
  file_->reader.seek(file_->places[row]);
  STATEMENT_INVARIANT(file_->reader.next(execution, slots_));
  // Copy the values: another reader may restore its row before this one is finished.
  for (const Slot slot : slots_)
    execution.slots[slot] = execution.slots[slot].copy_to(execution.row_arena);
}

void Execution::release_kept() {
  for (RowStore* store : kept_for_run) store->clear();
  kept_for_run.clear();
  clear_for_next_run(row_arena);
  for (const auto& state : states_) {
    if (state) state->end_run();
  }
}

}  // namespace swizzle::sql
