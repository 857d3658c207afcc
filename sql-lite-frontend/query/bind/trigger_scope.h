#pragma once

#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// Slots of the rows that a trigger's condition reads.
struct ConditionSlots {
  Slot old_row = 0;
  Slot new_row = 0;
};
/// Returns a scope in which old.a and new.a are columns.
Scope condition_scope(Binder& binder, const TablePtr& table, const ConditionSlots& slots);

}  // namespace swizzle::sql
