#pragma once

#include <memory>

#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bind/scope.h"

namespace swizzle::sql {

/// Returns a column with the number of a row's partition, for a query whose rows the statement
/// locks or writes.
inline OutputTarget partition_target(const FromTable& table) {
  OutputTarget target;
  target.name = "tableoid";
  target.type = TypeId::oid;
  target.slot = partition_slot(*table.table, table.first_slot);
  target.expr = std::make_unique<SlotExpr>(target.type, kNoTypmod, target.slot,
                                           SlotExpr::Origin{kNoOid, 0, table.alias, target.name});
  return target;
}

/// Makes the item one of the table and its heirs: rows know their table, and have no common ids.
inline void show_heirs(ScopeItem& item, const Table& table, Slot first_slot) {
  item.partition_slot = partition_slot(table, first_slot);
  item.row_id_slot.reset();
}

/// Returns a column with the hidden ids of the rows. Pre: the table has them.
inline OutputTarget row_id_target(const FromTable& table) {
  OutputTarget target;
  target.name = "ctid";
  target.type = TypeId::xid8;
  target.slot = *table.row_id_slot;
  target.expr = std::make_unique<SlotExpr>(target.type, kNoTypmod, target.slot,
                                           SlotExpr::Origin{kNoOid, 0, table.alias, target.name});
  return target;
}

}  // namespace swizzle::sql
