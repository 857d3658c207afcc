#include "sql-lite-frontend/execution/write/partition_writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/access/partition_scan.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

PartitionWrites::PartitionWrites(const WriteStatement& root, NameSource& names)
    : root_(root),
      names_(names),
      changes_(root.partitions.leaf_changes.size()),
      inserts_(root.partitions.leaf_inserts.size()) {}

PartitionWrites::~PartitionWrites() = default;

void PartitionWrites::begin(WriteOperator::Rows expected) noexcept {
  expected_ = expected;
  for (auto* const list : {&changes_, &inserts_}) {
    for (Leaf& leaf : *list) leaf.is_begun = false;
  }
}

WriteOperator& PartitionWrites::begun(Execution& execution, Leaf& leaf,
                                      const Planned<WriteStatement>& statement) {
  if (!leaf.op) leaf.op.reset(new WriteOperator(statement, root_, names_));
  if (!leaf.is_begun) leaf.op->begin(execution, expected_);
  leaf.is_begun = true;
  leaf.op->action_ = root_op_->action_;
  return *leaf.op;
}

WriteOperator& PartitionWrites::inserting(Execution& execution, std::size_t leaf) {
  return begun(execution, inserts_[leaf], root_.partitions.leaf_inserts[leaf]);
}

void PartitionWrites::note_partition(Execution& execution, Slot row, std::size_t leaf) const {
  const Slot at = partition_slot(*root_.table, row);
  execution.slots[at] = Value::from_oid(tree().leaves[leaf].table->relation.oid);
  execution.slots[at + 1] = Value::from_int(static_cast<std::int64_t>(leaf));
}

std::size_t PartitionWrites::route(Execution& execution) const {
  if (!root_.partitions.bounds.empty()) {
    root_op_->check_bounds(execution, row_at(execution, root_.written_slot()));
  }
  for (std::size_t at = 0;;) {
    const PartitionTree::Node& node = tree().nodes[at];
    if (node.leaf != PartitionTree::kNone) return node.leaf;
    key_.clear();
    for (const ExprPtr& part : root_.partitions.keys[at]) key_.push_back(part->eval(execution));
    const auto place = node.map->find(key_);
    if (!place) fail(execution, at);
    at = node.children[*place];
  }
}

/// Throws; the key's values are shown only if the user may read them.
void PartitionWrites::fail(Execution& execution, std::size_t node) const {
  const TablePtr& table = tree().nodes[node].table;
  const PartitionKey& key = *table->relation.partition_key;
  SqlError error = sql_error(sqlstate::check_violation,
                             "no partition of relation \"{}\" found for row", table->relation.name);
  std::vector<std::int16_t> numbers;
  for (const PartitionColumn& column : key.columns) numbers.push_back(column.column);
  const bool has_expressions = std::ranges::find(numbers, 0) != numbers.end();
  if (execution.services.may_read(table, has_expressions ? all_columns(*table) : numbers) &&
      !execution.services.hides_rows(*table)) {
    std::string names;
    std::string values;
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      if (i > 0) names += ", ";
      if (i > 0) values += ", ";
      const Expr& part = *root_.partitions.keys[node][i];
      names += describe(part, ExprPrinter::Columns::names);
      values += key_[i].is_null()
                    ? "null"
                    : shortened_value(to_text(execution.functions, part.type(), key_[i]));
    }
    error = std::move(error).with_detail(
        fmt::format("Partition key of the failing row contains ({}) = ({}).", names, values));
  }
  error.fields().schema = execution.services.schema_name(table->relation.schema);
  error.fields().table = table->relation.name;
  throw error;
}

std::vector<Value> PartitionWrites::row_at(const Execution& execution, Slot first_slot) const {
  const auto first = execution.slots.begin() + first_slot;
  return {first, first + static_cast<std::ptrdiff_t>(root_.table->relation.columns.size())};
}

/// Notes the rows for the transition tables of the statement's own triggers.
void PartitionWrites::note_written(Execution& execution, WriteOperator& root, TriggerEvent event,
                                   Slot old_slot, Slot new_slot) const {
  if (!root.triggers_) return;
  std::vector<Value> old_row;
  std::vector<Value> new_row;
  if (event != TriggerEvent::insert) old_row = row_at(execution, old_slot);
  if (event != TriggerEvent::remove) new_row = row_at(execution, new_slot);
  root.triggers_->note(execution, event, old_row, new_row);
}

void PartitionWrites::insert(Execution& execution, WriteOperator& root) {
  root_op_ = &root;
  const std::size_t leaf = route(execution);
  note_partition(execution, root_.written_slot(), leaf);
  WriteOperator& op = inserting(execution, leaf);
  if (!op.insert_leaf_row(execution, root.new_row_, leaf, *this)) return;
  note_written(execution, root, op.changed_existing_ ? TriggerEvent::update : TriggerEvent::insert,
               root_.insert.conflict.existing_first_slot, root_.written_slot());
  root.keep_returning(execution);
}

namespace {

Slot leaf_slot_of(const WriteStatement& root) {
  return partition_slot(*root.table, root.first_slot) + 1;
}

}  // namespace

std::size_t PartitionWrites::leaf_of_row(const Execution& execution) const {
  return static_cast<std::size_t>(execution.slots[leaf_slot_of(root_)].as_int8());
}

WriteOperator& PartitionWrites::changing(Execution& execution, WriteOperator& root) {
  root_op_ = &root;
  const std::size_t leaf = leaf_of_row(execution);
  WriteOperator& op = begun(execution, changes_[leaf], root_.partitions.leaf_changes[leaf]);
  op.target_ = &root.target_->of_row(execution);
  return op;
}

void PartitionWrites::change(Execution& execution, WriteOperator& root) {
  WriteOperator& op = changing(execution, root);
  const bool is_written = root.deletes()
                              ? op.delete_leaf_row(execution)
                              : op.update_leaf_row(execution, leaf_of_row(execution), *this);
  if (is_written) finish_change(execution, root);
}

bool PartitionWrites::change_locked(Execution& execution, WriteOperator& root,
                                    WriteOperator& holder) {
  holder.action_ = root.action_;
  const bool is_written = root.deletes()
                              ? holder.delete_locked_leaf(execution)
                              : holder.update_locked_leaf(execution, leaf_of_row(execution), *this);
  if (is_written) finish_change(execution, root);
  return is_written;
}

void PartitionWrites::finish_change(Execution& execution, WriteOperator& root) const {
  const bool updates = !root.deletes();
  // RETURNING tableoid shows the new row's partition.
  if (updates && !root_.returning.empty()) {
    note_partition(execution, root_.new_first_slot, route_updated(execution));
  }
  note_written(execution, root, updates ? TriggerEvent::update : TriggerEvent::remove,
               root_.first_slot, root_.new_first_slot);
  root.keep_returning(execution);
}

std::string_view PartitionWrites::name_of_row(Execution& execution, const TableAccess& target) {
  row_name_ = fmt::format("{} ", execution.slots[leaf_slot_of(root_)].as_int8());
  row_name_ += as_text(execution.slots[target.key_slot()].as_bytes());
  return row_name_;
}

void PartitionWrites::end(Execution& execution) {
  for (auto* const list : {&changes_, &inserts_}) {
    for (Leaf& leaf : *list) {
      if (leaf.is_begun) leaf.op->end(execution);
    }
  }
}

void PartitionWrites::close() {
  for (auto* const list : {&changes_, &inserts_}) {
    for (Leaf& leaf : *list) {
      if (leaf.op) leaf.op->forget_written();
    }
  }
}

}  // namespace swizzle::sql
