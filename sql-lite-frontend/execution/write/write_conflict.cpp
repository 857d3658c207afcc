#include <algorithm>

#include "sql-lite-frontend/execution/access/late_error.h"
#include "sql-lite-frontend/execution/write/statement_triggers.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/types/sql_error.h"

/// INSERT … ON CONFLICT.
namespace swizzle::sql {

/// Tries to insert; if a conflicting row exists, leaves or updates it. Starts again if that row
/// vanishes between the two steps.
void WriteOperator::insert_with_conflicts(Execution& execution) {
  Transaction& transaction = *execution.transaction;
  const Transaction::Mark before = transaction.mark();
  for (;;) {
    const Index* conflict = writer_.insert(execution, new_row_, RowWriter::OnConflict::report);
    if (conflict == nullptr) {
      if (write_->insert.conflict.kind == ConflictAction::Kind::update) {
        touched_.count_in(execution.memory);
        touched_[writer_.last_key()] = 1;
      }
      show_row_id(execution, writer_.inserted_key());
      note_inserted(execution);
      keep_returning(execution);
      return;
    }
    const Index* arbiter = write_->insert.conflict.index;
    if (arbiter != nullptr && arbiter != conflict) {
      // Only a duplicate in the arbiter index leads to ON CONFLICT; others are errors.
      if (!writer_.find_duplicate(execution, *arbiter, new_row_)) {
        writer_.fail_duplicate(execution, *conflict, new_row_);
      }
      conflict = arbiter;
    }
    if (write_->insert.conflict.kind == ConflictAction::Kind::nothing) {
      // At REPEATABLE READ, DO NOTHING because of a row outside the snapshot is an error: 40001.
      if (keeps_snapshot(transaction.isolation())) {
        told_of_update([&] { return writer_.find_duplicate(execution, *conflict, new_row_); });
      }
      // The lock on the existing row is released, as in PostgreSQL.
      if (transaction.isolation() != Isolation::serializable)
        value_of(transaction.rollback_to(before));
      return;
    }
    const auto key =
        told_of_update([&] { return writer_.find_duplicate(execution, *conflict, new_row_); });
    if (key && update_existing(execution, *key)) return;
    execution.tick();
  }
}

bool WriteOperator::update_existing(Execution& execution, const std::string& key) {
  ValueBuffer buffer;
  const Tree tree = *write_->table->tree;
  if (!value_of(
          tree.get(*execution.transaction, as_bytes(key), buffer, ReadMode::for_no_key_update))) {
    return false;
  }
  if (touched_.find(key) != KeyTable::kAbsent) {
    throw SqlError{SqlState{"21000"},
                   "ON CONFLICT DO UPDATE command cannot affect row a second time"}
        .with_hint(
            "Ensure that no rows proposed for insertion within the same command have duplicate "
            "constrained values.");
  }
  RowReader{write_->table->layout, buffer.bytes()}.columns(old_row_);
  if (is_leaf()) {
    show_as_root(execution, old_row_, asked_->insert.conflict.existing_first_slot);
  } else {
    put(execution, old_row_, write_->insert.conflict.existing_first_slot);
  }
  const bool wanted =
      std::ranges::all_of(asked_->insert.conflict_where,
                          [&](const ExprPtr& condition) { return holds(*condition, execution); });
  if (!wanted) return true;
  check_policies(execution, asked_->checks.existing);
  if (!std::ranges::all_of(asked_->rows.recheck, [&](const ExprPtr& condition) {
        return holds(*condition, execution);
      })) {
    return true;
  }
  std::vector<Value> row = old_row_;
  for (const Assignment& assignment : asked_->assignments) {
    row[place_of(assignment.position)] = assignment.expr->eval(execution);
  }
  if (triggers_ && triggers_->runs_between_rows() &&
      !before_update(execution, as_bytes(key), row)) {
    return true;
  }
  // From here on, checks and RETURNING use the updated row.
  put(execution, row, write_->first_slot);
  compute_generated(execution, row, write_->first_slot);
  if (is_leaf()) finish_existing_leaf(execution, row);
  check_policies(execution, asked_->checks.updated);
  check_row(execution, row);
  lock_changed_keys(execution, as_bytes(key), row);
  writer_.update(execution, as_bytes(key), old_row_, row);
  touched_.count_in(execution.memory);
  touched_[writer_.last_key()] = 1;
  note_updated(execution, row);
  if (asked_->insert.was_there) execution.slots[*asked_->insert.was_there] = Value::from_bool(true);
  show_row_id(execution, key);
  keep_returning(execution);
  return true;
}

}  // namespace swizzle::sql
