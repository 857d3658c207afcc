#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/access/late_error.h"
#include "sql-lite-frontend/execution/access/moved_away.h"
#include "sql-lite-frontend/execution/write/changed_within.h"
#include "sql-lite-frontend/execution/write/partition_writes.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Rows of one partition that a statement on its parent writes. Expressions of the statement refer
/// to the root's row, those of the partition's definition (defaults, checks, indexes) to its own
/// row.
namespace swizzle::sql {

namespace {

/// Deletes a row such that transactions waiting for it see that it moves to another partition.
void remove_to_elsewhere(Tree tree, Execution& execution, Bytes key) {
  Transaction& transaction = *execution.transaction;
  if (key.size() == Engine::kMaxKeyBytes) {
    value_of(tree.remove(transaction, key));
    return;
  }
  const std::string away = key_of_moved_away(as_text(key));
  value_of(tree.move(transaction, key, as_bytes(away), {}));
  value_of(tree.remove(transaction, as_bytes(away)));
}

}  // namespace

std::size_t WriteOperator::place_of(std::size_t root_position) const noexcept {
  return write_->partitions.shown_places.empty() ? root_position
                                                 : write_->partitions.shown_places[root_position];
}

/// Returns the first slot of the written row in the root's layout.
Slot WriteOperator::row_of_root() const noexcept {
  return asked_->written_slot();
}

void WriteOperator::show_as_root(Execution& execution, std::span<const Value> row,
                                 Slot first_slot) const {
  const std::size_t columns = asked_->table->relation.columns.size();
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t place = place_of(i);
    execution.slots[first_slot + i] = place < row.size() ? row[place] : Value::null();
  }
}

/// A trigger may not choose another partition than the one that it belongs to.
void WriteOperator::fail_moved_by_trigger(Execution& execution) const {
  const Relation& relation = write_->table->relation;
  const auto fired = std::ranges::find_if(write_->triggers.fired, [](const auto& one) {
    return one.trigger->time == TriggerTime::before && one.event == TriggerEvent::insert;
  });
  SqlError error{sqlstate::feature_not_supported,
                 "moving row to another partition during a BEFORE FOR EACH ROW trigger is not "
                 "supported"};
  if (fired == write_->triggers.fired.end()) throw error;
  throw std::move(error).with_detail(fmt::format(
      "Before executing trigger \"{}\", the row was to be in partition \"{}.{}\".",
      fired->trigger->name, execution.services.schema_name(relation.schema), relation.name));
}

/// False if a trigger or ON CONFLICT skips the row.
bool WriteOperator::insert_leaf_row(Execution& execution, std::span<const Value> row,
                                    std::size_t leaf, const PartitionWrites& partitions) {
  const std::uint64_t before = written_;
  changed_existing_ = false;
  std::ranges::fill(new_row_, Value{});
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::size_t place = place_of(i);
    if (place < new_row_.size()) new_row_[place] = row[i];
  }
  put(execution, new_row_, write_->first_slot);
  if (triggers_ && triggers_->runs_between_rows()) {
    if (!before_insert(execution)) return false;
    show_as_root(execution, new_row_, row_of_root());
    if (partitions.route(execution) != leaf) fail_moved_by_trigger(execution);
  }
  compute_generated(execution, new_row_, write_->first_slot);
  show_as_root(execution, new_row_, row_of_root());
  check_policies(execution, checks_of_new_row());
  check_row(execution, new_row_);
  check_each(execution, asked_->checks.constraints, new_row_);
  if (write_->insert.conflict.kind != ConflictAction::Kind::error) {
    insert_with_conflicts(execution);
    return written_ != before;
  }
  writer_.insert(execution, new_row_, RowWriter::OnConflict::fail);
  note_inserted(execution);
  ++written_;
  return true;
}

/// ON CONFLICT DO UPDATE: the root's row becomes the updated one, which must stay in this
/// partition.
void WriteOperator::finish_existing_leaf(Execution& execution, std::span<const Value> row) {
  changed_existing_ = true;
  show_as_root(execution, row, asked_->first_slot);
  // Copied, because the root reads them after their source has been freed.
  for (std::size_t i = 0; i < asked_->table->relation.columns.size(); ++i) {
    for (const Slot first : {asked_->first_slot, asked_->insert.conflict.existing_first_slot}) {
      execution.slots[first + i] = execution.slots[first + i].copy_to(execution.row_arena);
    }
  }
  check_each(execution, asked_->checks.constraints, row);
  const PartitionTree& tree = *asked_->partitions.tree;
  std::vector<Value> key;
  for (std::size_t at = 0; tree.nodes[at].leaf == PartitionTree::kNone;) {
    key.clear();
    for (const ExprPtr& part : asked_->partitions.keys[at]) key.push_back(part->eval(execution));
    const auto place = tree.nodes[at].map->find(key);
    at = place ? tree.nodes[at].children[*place] : 0;
    const bool is_here = place && (tree.nodes[at].leaf == PartitionTree::kNone ||
                                   tree.nodes[at].table == write_->table);
    if (is_here) continue;
    throw SqlError{sqlstate::feature_not_supported, "invalid ON UPDATE specification"}.with_detail(
        "The result tuple would appear in a different partition than the original tuple.");
  }
}

bool WriteOperator::update_leaf_row(Execution& execution, std::size_t leaf,
                                    PartitionWrites& partitions) {
  return lock_target(execution, ReadMode::for_no_key_update) &&
         update_locked_leaf(execution, leaf, partitions);
}

bool WriteOperator::update_locked_leaf(Execution& execution, std::size_t leaf,
                                       PartitionWrites& partitions) {
  new_row_ = old_row_;
  const Transaction::Mark mark = execution.transaction->mark();
  for (const Assignment& assignment : assigned()) {
    new_row_[place_of(assignment.position)] = assignment.expr->eval(execution);
  }
  require_same_row(execution, *write_, mark, execution.slots[target_->key_slot()].as_bytes(),
                   old_row_);
  if (triggers_ && triggers_->runs_between_rows() &&
      !before_update(execution, own_key(execution), new_row_)) {
    return false;
  }
  put(execution, new_row_, write_->new_first_slot);
  compute_generated(execution, new_row_, write_->new_first_slot);
  show_as_root(execution, new_row_, asked_->new_first_slot);
  const std::size_t to = partitions.route_updated(execution);
  if (to != leaf) return move_leaf_row(execution, to, partitions);
  check_policies(execution, asked_->checks.policies);
  check_row(execution, new_row_);
  check_each(execution, asked_->checks.constraints, new_row_);
  lock_changed_keys(execution, execution.slots[target_->key_slot()].as_bytes(), new_row_);
  writer_.update(execution, execution.slots[target_->key_slot()].as_bytes(), old_row_, new_row_);
  note_updated(execution, new_row_);
  ++written_;
  return true;
}

/// Moves the updated row, which is in the root's slots, to another partition.
bool WriteOperator::move_leaf_row(Execution& execution, std::size_t to,
                                  PartitionWrites& partitions) {
  // Copied, because the triggers of the insert write to the same slots.
  std::vector<Value> row;
  for (std::size_t i = 0; i < asked_->table->relation.columns.size(); ++i) {
    row.push_back(execution.slots[asked_->new_first_slot + i].copy_to(execution.row_arena));
  }
  const Bytes key = own_key(execution);
  const bool asks = triggers_ && triggers_->runs_between_rows();
  if (asks && !before_delete(execution)) return false;
  ValueBuffer ignored;
  const Tree tree = *write_->table->tree;
  value_of(tree.get(*execution.transaction, key, ignored, ReadMode::for_update));
  remove_to_elsewhere(*write_->table->tree, execution, key);
  writer_.removed(execution, as_text(key), old_row_);
  // Rows that reference the partition itself lose the row.
  note_removed(execution);
  ++written_;
  for (std::size_t i = 0; i < row.size(); ++i) {
    execution.slots[asked_->new_first_slot + i] = row[i];
  }
  return partitions.inserting(execution, to).insert_leaf_row(execution, row, to, partitions);
}

bool WriteOperator::delete_leaf_row(Execution& execution) {
  const bool asks = triggers_ && triggers_->runs_between_rows();
  if (asks || !delete_unchanged(execution)) {
    return lock_target(execution, ReadMode::for_update) && delete_locked_leaf(execution);
  }
  show_as_root(execution, old_row_, asked_->first_slot);
  note_removed(execution);
  ++written_;
  return true;
}

bool WriteOperator::delete_locked_leaf(Execution& execution) {
  if (triggers_ && triggers_->runs_between_rows() && !before_delete(execution)) return false;
  writer_.remove(execution, execution.slots[target_->key_slot()].as_bytes(), old_row_);
  show_as_root(execution, old_row_, asked_->first_slot);
  note_removed(execution);
  ++written_;
  return true;
}

}  // namespace swizzle::sql
