#include "sql-lite-frontend/execution/access/lock_rows.h"

#include <algorithm>

#include "sql-lite-frontend/execution/access/late_error.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void LockRows::open(Execution& execution) {
  for (const Target& target : targets_) {
    const Relation& relation = target.access->table().relation;
    if (relation.kind != RelationKind::materialized) continue;
    throw_error(sqlstate::wrong_object_type, "cannot lock rows in materialized view \"{}\"",
                relation.name);
  }
  input_->open(execution);
}

LockRows::Outcome LockRows::lock_all(Execution& execution) {
  auto outcome = Outcome::unchanged;
  before_.clear();
  for (const Target& target : targets_) {
    before_.push_back(execution.slots[target.access->row_slot()]);
    // The null-extended side of an outer join has no row to lock.
    if (execution.slots[target.access->key_slot()].is_null()) continue;
    switch (told_of_update([&] {
      return target.access->of_row(execution).lock_row(execution, target.mode, target.wait);
    })) {
      case TableAccess::Locked::gone:
        return Outcome::gone;
      case TableAccess::Locked::changed:
        outcome = Outcome::changed;
        break;
      case TableAccess::Locked::unchanged:
        break;
    }
  }
  return outcome;
}

/// Evaluates the conditions and targets again with the rows' newest versions.
bool LockRows::still_fits(Execution& execution) {
  for (const Recheck& recheck : rechecks_) {
    const bool holds_all = std::ranges::all_of(
        recheck.conditions, [&](const ExprPtr& condition) { return holds(*condition, execution); });
    if (!holds_all && !recheck.is_outer_join) return false;
    if (!holds_all) {
      for (const Slot slot : recheck.other_side) execution.slots[slot] = Value::null();
    }
    for (const Recomputed& again : recheck.recomputed) {
      execution.slots[again.slot] = again.expr->eval(execution);
    }
  }
  return true;
}

/// Restores the row versions of the snapshot in the slots.
void LockRows::show_as_found(Execution& execution) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (!before_[i].is_null()) targets_[i].access->of_row(execution).show(execution, before_[i]);
  }
  for (const Recheck& recheck : rechecks_) {
    for (const Recomputed& again : recheck.recomputed) {
      execution.slots[again.slot] = again.expr->eval(execution);
    }
  }
}

/// Locks the rows. False if one is deleted, is locked by another transaction with SKIP LOCKED, or
/// no longer fulfils the conditions.
bool LockRows::lock(Execution& execution) {
  const Outcome outcome = lock_all(execution);
  if (outcome != Outcome::changed) return outcome == Outcome::unchanged;
  const bool fits = still_fits(execution);
  if (!keeps_snapshot(execution.transaction->isolation())) return fits;
  if (!fits) {
    throw SqlError{sqlstate::serialization_failure,
                   "could not serialize access due to concurrent update"};
  }
  show_as_found(execution);
  return true;
}

bool LockRows::next(Execution& execution) {
  while (input_->next(execution)) {
    if (lock(execution)) return true;
  }
  return false;
}

}  // namespace swizzle::sql
