#include "sql-lite-frontend/execution/access/partition_scan.h"

#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

PartitionScan::PartitionScan(TablePtr table, std::string alias, std::vector<Part> parts,
                             std::vector<Slot> outputs, Slot partition_slot,
                             std::unique_ptr<PartitionPruner> pruner, PartitionTreePtr tree)
    : TableAccess(std::move(table), std::move(alias), {}),
      parts_(std::move(parts)),
      part_of_leaf_(tree->leaves.size(), PartitionTree::kNone),
      outputs_(std::move(outputs)),
      partition_slot_(partition_slot),
      pruner_(std::move(pruner)),
      tree_(std::move(tree)) {
  for (std::size_t i = 0; i < parts_.size(); ++i) part_of_leaf_[parts_[i].leaf] = i;
}

PartitionScan::PartitionScan(const PartitionScan& of, StepCopies& copies)
    : TableAccess(of, copies),
      part_of_leaf_(of.part_of_leaf_),
      outputs_(of.outputs_),
      partition_slot_(of.partition_slot_),
      pruner_(of.pruner_),
      tree_(of.tree_) {
  for (const Part& part : of.parts_) {
    PlanPtr input = copies.copy(part.input);
    TableAccess* const access = copies.copy_of(part.access);
    parts_.push_back({std::move(input), access, part.leaf});
  }
}

/// Opens the next part, from `current_` on, that is not pruned. False if there is none.
bool PartitionScan::open_part(Execution& execution) {
  for (; current_ < parts_.size(); ++current_) {
    if (!wanted_leaves_.empty() && !wanted_leaves_[parts_[current_].leaf]) continue;
    parts_[current_].input->open(execution);
    is_open_ = true;
    return true;
  }
  return false;
}

void PartitionScan::open(Execution& execution) {
  wanted_leaves_.clear();
  if (*pruner_) {
    wanted_leaves_ = (*pruner_)->leaves(
        [&](const Expr& value) -> std::optional<Value> { return value.eval(execution); });
  }
  current_ = 0;
  is_open_ = false;
  open_part(execution);
}

bool PartitionScan::next(Execution& execution) {
  while (is_open_) {
    Part& part = parts_[current_];
    if (part.input->next(execution)) {
      execution.slots[partition_slot_] =
          Value::from_oid(tree_->leaves[part.leaf].table->relation.oid);
      execution.slots[leaf_slot()] = Value::from_int(static_cast<std::int64_t>(part.leaf));
      return true;
    }
    part.input->close();
    is_open_ = false;
    ++current_;
    open_part(execution);
  }
  return false;
}

void PartitionScan::close() {
  for (Part& part : parts_) part.input->close();
  is_open_ = false;
}

TableAccess& PartitionScan::of_row(const Execution& execution) noexcept {
  const auto leaf = static_cast<std::size_t>(execution.slots[leaf_slot()].as_int8());
  return *parts_[part_of_leaf_[leaf]].access;
}

void PartitionScan::set_wait(WaitPolicy wait) noexcept {
  TableAccess::set_wait(wait);
  for (Part& part : parts_) part.access->set_wait(wait);
}

std::vector<Slot> PartitionScan::output_slots() const {
  std::vector<Slot> slots = *outputs_;
  slots.push_back(partition_slot_);
  slots.push_back(leaf_slot());
  if (keeps_identity()) {
    slots.push_back(key_slot());
    slots.push_back(row_slot());
  }
  return slots;
}

std::vector<std::string> PartitionScan::part_titles() const {
  std::vector<std::string> titles;
  for (const Part& part : parts_) {
    const std::string& name = part.access->table().relation.name;
    titles.push_back(quote_identifier(name));
    if (part.access->alias() != name) titles.back() += " " + quote_identifier(part.access->alias());
  }
  return titles;
}

std::string_view PartitionScan::scanned_relation() const noexcept {
  return parts_.size() == 1 ? parts_.front().input->scanned_relation() : std::string_view{};
}

std::vector<PlanMeasure> PartitionScan::measured() const {
  return parts_.size() == 1 ? parts_.front().input->measured() : std::vector<PlanMeasure>{};
}

PlanNote PartitionScan::note(ExprPrinter::Columns columns) const {
  if (parts_.size() == 1) return parts_.front().input->note(columns);
  if (!parts_.empty()) return {"Append", {}};
  return {"Result", {{"One-Time Filter", "false"}}};
}

std::vector<const PlanOperator*> PartitionScan::children() const {
  if (parts_.size() == 1) return parts_.front().input->children();
  std::vector<const PlanOperator*> list;
  for (const Part& part : parts_) list.push_back(part.input.get());
  return list;
}

}  // namespace swizzle::sql
