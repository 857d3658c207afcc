#include <algorithm>

#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/write/partition_writes.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/types/sql_error.h"

/// MERGE: finds the action for each row of the join and performs it as INSERT, UPDATE and DELETE
/// do.
///
/// Conditions are evaluated on the statement's snapshot. If another transaction has changed the row
/// since, it is locked, and the join condition and the conditions of the actions are evaluated
/// again on its newest version; if the join condition fails then, the source row counts as NOT
/// MATCHED.
namespace swizzle::sql {
namespace {

using MergeRows = MergeAction::Rows;

bool all_hold(std::span<const ExprPtr> conditions, Execution& execution) {
  return std::ranges::all_of(
      conditions, [&](const ExprPtr& condition) { return holds(*condition, execution); });
}

void clear(Execution& execution, Slot first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) execution.slots[first + i] = Value::null();
}

std::string_view name_of(MergeAction::Does does) noexcept {
  if (does == MergeAction::Does::insert) return "INSERT";
  return does == MergeAction::Does::update ? "UPDATE" : "DELETE";
}

}  // namespace

/// Returns the first action for such a row whose condition holds; null if there is none.
const MergeAction* WriteOperator::action_for(Execution& execution, MergeRows rows) const {
  for (const MergeAction& action : write_->merge->actions) {
    if (action.rows == rows && all_hold(action.conditions, execution)) return &action;
  }
  return nullptr;
}

void WriteOperator::merge_row(Execution& execution, KeyTable& done) {
  const MergeParts& merge = *write_->merge;
  const auto is_there = [&](Slot slot) { return !execution.slots[slot].is_null(); };
  const bool has_target = is_there(merge.target_there ? *merge.target_there : target_->key_slot());
  const bool has_source = !merge.source_there || is_there(*merge.source_there);
  action_ = nullptr;
  if (has_target) {
    const MergeRows rows = has_source ? MergeRows::matched : MergeRows::not_matched_by_source;
    if (merge_target(execution, rows, done) == Target::done) return;
  }
  if (has_source) insert_merged(execution);
}

/// Acts on the target row in the slots. `not_matched`: no source row belongs to it, since another
/// transaction has changed it.
WriteOperator::Target WriteOperator::merge_target(Execution& execution, MergeRows rows,
                                                  KeyTable& done) {
  if (!choose_for_target(execution, rows)) return Target::done;
  if (write_->view.instead) {
    write_instead(execution);
    return Target::done;
  }
  const std::string name{partitions_ ? partitions_->name_of_row(execution, *target_)
                                     : as_text(execution.slots[target_->key_slot()].as_bytes())};
  if (done.find(name) != KeyTable::kAbsent) {
    throw SqlError{SqlState{"21000"}, "MERGE command cannot affect row a second time"}.with_hint(
        "Ensure that not more than one source row matches any one target row.");
  }
  WriteOperator& holder = partitions_ ? partitions_->changing(execution, *this) : *this;
  const auto locked = holder.lock_and_read(
      execution, action_->removes() ? ReadMode::for_update : ReadMode::for_no_key_update);
  switch (locked) {
    case TableAccess::Locked::gone:
      return rows == MergeRows::matched ? Target::not_matched : Target::done;
    case TableAccess::Locked::unchanged:
      if (act_on_target(execution, holder)) done[name] = 1;
      return Target::done;
    case TableAccess::Locked::changed:
      break;
  }
  if (rows == MergeRows::matched && !all_hold(write_->rows.recheck, execution)) {
    return Target::not_matched;
  }
  const bool keeps_source =
      rows != MergeRows::matched || all_hold(write_->merge->on_again, execution);
  const bool is_written = keeps_source ? act_on_changed(execution, rows, holder)
                                       : act_without_source(execution, holder);
  if (is_written) done[name] = 1;
  return keeps_source ? Target::done : Target::not_matched;
}

/// Finds the action on the target row. False: there is none, or it is DO NOTHING.
bool WriteOperator::choose_for_target(Execution& execution, MergeRows rows) {
  action_ = action_for(execution, rows);
  if (action_ == nullptr || action_->does == MergeAction::Does::nothing) return false;
  check_policies(execution, action_->removes() ? write_->checks.removed : write_->checks.existing);
  return true;
}

/// Acts on the locked row as others have left it. It is not locked by lock_row() again, which would
/// follow the changes of its new key as if they were the row's.
bool WriteOperator::act_on_changed(Execution& execution, MergeRows rows, WriteOperator& holder) {
  if (!choose_for_target(execution, rows)) return false;
  holder.action_ = action_;
  if (action_->removes()) {
    ValueBuffer ignored;
    const Tree tree = *holder.write_->table->tree;
    value_of(tree.get(*execution.transaction,
                      execution.slots[holder.target_->key_slot()].as_bytes(), ignored,
                      ReadMode::for_update));
  }
  return act_on_target(execution, holder);
}

/// The same for a row that belongs to its source row no more: one without a source.
bool WriteOperator::act_without_source(Execution& execution, WriteOperator& holder) {
  if (!write_->merge->has(MergeRows::not_matched_by_source)) return false;
  std::vector<Value> source;
  for (const Slot slot : write_->merge->source_slots) {
    source.push_back(execution.slots[slot]);
    execution.slots[slot] = Value::null();
  }
  const bool is_written = act_on_changed(execution, MergeRows::not_matched_by_source, holder);
  for (std::size_t i = 0; i < source.size(); ++i) {
    execution.slots[write_->merge->source_slots[i]] = source[i];
  }
  return is_written;
}

/// Updates or deletes the row that `holder` has locked. False: the row is left unchanged.
bool WriteOperator::act_on_target(Execution& execution, WriteOperator& holder) {
  if (partitions_) return partitions_->change_locked(execution, *this, holder);
  return action_->removes() ? delete_locked(execution) : update_locked(execution);
}

/// Acts on a source row without a target row.
void WriteOperator::insert_merged(Execution& execution) {
  action_ = action_for(execution, MergeRows::not_matched_by_target);
  if (action_ == nullptr || !action_->inserts()) return;
  std::ranges::fill(new_row_, Value{});
  for (const Assignment& assignment : action_->assignments) {
    new_row_[assignment.position] = assignment.expr->eval(execution);
  }
  put(execution, new_row_, write_->new_first_slot);
  insert_new_row(execution);
}

/// Makes the slots that RETURNING reads those of the action: OLD, NEW, and the row under the
/// target's own name.
void WriteOperator::show_merged(Execution& execution) {
  const MergeParts& merge = *write_->merge;
  const std::size_t count = row_slots(*write_->table);
  if (action_->inserts()) clear(execution, write_->first_slot, count);
  if (action_->removes()) clear(execution, write_->new_first_slot, count);
  const Slot shown = action_->removes() ? write_->first_slot : write_->new_first_slot;
  for (std::size_t i = 0; i < count; ++i) {
    execution.slots[*merge.returned_slot + i] = execution.slots[shown + i];
  }
  if (merge.action_slot) {
    execution.slots[*merge.action_slot] = Value::from_text(name_of(action_->does));
  }
}

}  // namespace swizzle::sql
