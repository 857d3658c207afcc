#include "sql-lite-frontend/bind/query.h"
#include "sql-lite-frontend/execute/cte_scan.h"

namespace swizzle::sql {

Cte::Cte() = default;
Cte::~Cte() = default;

namespace {

/// Reads `plan` to its end into `rows`; with `seen`, only rows that are new.
void collect(Execution& execution, PlanOperator& plan, std::span<const Slot> outputs,
             RowStore& rows, KeyTable* seen, std::span<const TypeId> types) {
  plan.open(execution);
  RowScope scope{execution};
  while (plan.next(execution)) {
    if (seen != nullptr) {
      KeyWriter writer{types};
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        writer.add(i, execution.slots[outputs[i]]);
      }
      std::uint32_t& known = (*seen)[writer.key()];
      if (known != KeyTable::kAbsent) {
        scope.rewind();
        continue;
      }
      known = 1;
    }
    rows.keep(execution);
    scope.rewind();
  }
  plan.close();
}

}  // namespace

void Cte::fill(Execution& execution) {
  if (filled_in_run == execution.run) return;
  filled_in_run = execution.run;
  rows.clear();
  rows.set_slots(outputs);
  if (!recursive_plan) {
    collect(execution, *plan, outputs, rows, nullptr, {});
    return;
  }
  std::vector<TypeId> types;
  for (const OutputTarget& column : columns) types.push_back(column.type);
  KeyTable seen;
  KeyTable* const distinct = union_all ? nullptr : &seen;
  // The working table holds the rows of the last round, under the first part's slots.
  RowStore round;
  round.set_slots(outputs);
  collect(execution, *plan, outputs, round, distinct, types);
  while (round.size() > 0) {
    working.clear();
    working.set_slots(outputs);
    for (std::size_t i = 0; i < round.size(); ++i) {
      round.restore(execution, i);
      rows.keep(execution);
      working.keep(execution);
    }
    round.clear();
    round.set_slots(recursive_outputs);
    ++execution.round;
    collect(execution, *recursive_plan, recursive_outputs, round, distinct, types);
    // From here on they are known under the first part's slots.
    round.set_slots(outputs);
  }
  working.clear();
}

void CteScan::open(Execution& execution) {
  if (!reads_working_table_) cte_->fill(execution);
  position_ = 0;
}

bool CteScan::next(Execution& execution) {
  const RowStore& rows = reads_working_table_ ? cte_->working : cte_->rows;
  if (position_ == rows.size()) return false;
  execution.tick();
  rows.restore(execution, position_++);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    execution.slots[slots_[i]] = execution.slots[cte_->outputs[i]];
  }
  return true;
}

void EagerCtes::open(Execution& execution) {
  for (const auto& cte : ctes_) cte->fill(execution);
  input_->open(execution);
}

}  // namespace swizzle::sql
