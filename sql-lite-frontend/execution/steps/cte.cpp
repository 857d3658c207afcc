#include "sql-lite-frontend/execution/steps/cte.h"

#include "sql-lite-frontend/execution/steps/cte_scan.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "storage/held_view.h"

namespace swizzle::sql {

void Cte::become_copy(const Cte& of, StepCopies& copies) {
  union_all = of.union_all;
  outputs = of.outputs;
  first_outputs = of.first_outputs;
  recursive_outputs = of.recursive_outputs;
  column_types = of.column_types;
  plan = copies.copy(of.plan);
  recursive_plan = copies.copy(of.recursive_plan);
  correlated = copies.copy_of(of.correlated);
}

void Cte::fill(Execution& execution) {
  if (filled_in_run == execution.run) return;
  check_stack();
  stop();
  filled_in_run = execution.run;
  rows.clear();
  rows.set_slots(outputs);
  for (const auto& cte : correlated) cte->forget();
  plan->open(execution);
  if (recursive_plan) {
    stage_ = Stage::first;
    seen_.clear();
    seen_.count_in(execution.memory);
    round_.clear();
    round_.set_slots(outputs);
    return;
  }
  RowScope scope{execution};
  while (plan->next(execution)) {
    take_row(execution, first_outputs);
    rows.keep(execution);
    scope.rewind();
  }
  plan->close();
}

void Cte::take_row(Execution& execution, std::span<const Slot> from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    execution.slots[outputs[i]] = execution.slots[from[i]];
  }
}

/// UNION: keeps the row only if it is new.
bool Cte::keep_if_new(Execution& execution, std::span<const Slot> from) {
  if (!union_all) {
    KeyWriter writer{column_types};
    for (std::size_t i = 0; i < from.size(); ++i) writer.add(i, execution.slots[from[i]]);
    std::uint32_t& known = seen_[writer.key()];
    if (known != KeyTable::kAbsent) return false;
    known = 1;
  }
  take_row(execution, from);
  rows.keep(execution);
  round_.keep(execution);
  return true;
}

bool Cte::find_more(Execution& execution) {
  RowScope scope{execution};
  while (stage_ != Stage::ended) {
    PlanOperator& running = stage_ == Stage::first ? *plan : *recursive_plan;
    while (running.next(execution)) {
      execution.tick();
      if (keep_if_new(execution, stage_ == Stage::first ? first_outputs : recursive_outputs))
        return true;
      scope.rewind();
    }
    running.close();
    std::swap(working, round_);
    round_.clear();
    round_.set_slots(outputs);
    stage_ = working.size() > 0 ? Stage::recursive : Stage::ended;
    if (stage_ == Stage::recursive) recursive_plan->open(execution);
  }
  working.clear();
  round_.clear();
  seen_.clear();
  return false;
}

void Cte::stop() {
  if (stage_ == Stage::first) plan->close();
  if (stage_ == Stage::recursive) recursive_plan->close();
  stage_ = Stage::ended;
  working.clear();
  round_.clear();
  seen_.clear();
}

void Cte::leave() {
  if (--readers_ > 0 || stage_ == Stage::ended) return;
  // The next reader starts again, because not all rows have been computed.
  forget();
}

void Cte::forget() {
  stop();
  filled_in_run = 0;
}

PlanNote CteScan::note(ExprPrinter::Columns /*columns*/) const {
  std::string title = reads_working_table_ ? "WorkTable Scan on " : "CTE Scan on ";
  title += quote_identifier(cte_->name);
  if (alias_ != cte_->name) title += " " + quote_identifier(alias_);
  return {std::move(title), {}};
}

void CteScan::open(Execution& execution) {
  if (!reads_working_table_) {
    cte_->fill(execution);
    if (!is_open_) cte_->join();
    is_open_ = true;
  }
  position_ = 0;
}

bool CteScan::next(Execution& execution) {
  const RowStore& rows = reads_working_table_ ? cte_->working : cte_->rows;
  if (position_ == rows.size() && (reads_working_table_ || !cte_->find_more(execution))) {
    return false;
  }
  execution.tick();
  rows.restore(execution, position_++);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    execution.slots[slots_[i]] = execution.slots[cte_->outputs[i]];
  }
  return true;
}

void CteScan::close() {
  if (is_open_) cte_->leave();
  is_open_ = false;
}

void EagerCtes::open(Execution& execution) {
  for (const auto& cte : correlated_) cte->forget();
  // Take the snapshot before a statement in WITH may wait.
  if (execution.transaction->isolation() == Isolation::read_committed)
    HeldView{*execution.transaction}.reset();
  for (const auto& cte : ctes_) cte->fill(execution);
  input_->open(execution);
}

}  // namespace swizzle::sql
