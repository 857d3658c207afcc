#include "sql-lite-frontend/execution/steps/computed_scan.h"

#include "sql-lite-frontend/catalog/computed.h"

namespace swizzle::sql {

ComputedScan::ComputedScan(TablePtr table, std::string alias, std::vector<Wanted> wanted,
                           Planned<Key> key)
    : table_(std::move(table)),
      alias_(std::move(alias)),
      wanted_(std::move(wanted)),
      key_(std::move(key)),
      rows_(RowStore::Overflow::to_file) {
  rows_.set_slots(output_slots());
}

void ComputedScan::open(Execution& execution) {
  position_ = 0;
  if (filled_in_run_ == execution.run && !key_->reads_rows) return;
  filled_in_run_ = execution.run;
  rows_.clear();
  EmitRow keep{[&](std::span<const Value> row) {
    for (const Wanted& wanted : wanted_) execution.slots[wanted.slot] = row[wanted.position];
    rows_.keep(execution);
  }};
  if (key_->value) {
    const Value value = key_->value->eval(execution);
    if (value.is_null()) return;
    if (table_->computed->columns[key_->position].type == TypeId::oid) {
      keep.key.number = value.as_oid();
    } else {
      keep.key.name = value.as_text();
    }
  }
  table_->computed->for_each_row(execution, keep);
}

bool ComputedScan::next(Execution& execution) {
  if (position_ == rows_.size()) return false;
  execution.tick();
  rows_.restore(execution, position_++);
  return true;
}

std::vector<Slot> ComputedScan::output_slots() const {
  std::vector<Slot> slots;
  for (const Wanted& wanted : wanted_) slots.push_back(wanted.slot);
  return slots;
}

PlanNote ComputedScan::note(ExprPrinter::Columns /*columns*/) const {
  std::string title = "Seq Scan on " + table_->relation.name;
  if (alias_ != table_->relation.name) title += " " + alias_;
  return {std::move(title), {}};
}

}  // namespace swizzle::sql
