#include "sql-lite-frontend/execute/lock_rows.h"

#include <algorithm>

namespace swizzle::sql {

/// False when a row is gone, held by another where that means "skip", or no longer fits.
bool LockRows::lock(Execution& execution) {
  bool changed = false;
  for (const Target& target : targets_) {
    // The null-extended side of an outer join has no row to lock.
    if (execution.slots[target.access->key_slot()].is_null()) continue;
    switch (target.access->lock_row(execution, target.mode, target.wait)) {
      case TableAccess::Locked::gone:
        return false;
      case TableAccess::Locked::changed:
        changed = true;
        break;
      case TableAccess::Locked::unchanged:
        break;
    }
  }
  if (!changed) return true;
  const bool fits = std::ranges::all_of(
      recheck_, [&](const ExprPtr& condition) { return holds(*condition, execution); });
  if (!fits) return false;
  for (const Recomputed& again : recomputed_) {
    execution.slots[again.slot] = again.expr->eval(execution);
  }
  return true;
}

bool LockRows::next(Execution& execution) {
  while (input_->next(execution)) {
    if (lock(execution)) return true;
  }
  return false;
}

}  // namespace swizzle::sql
