#pragma once

#include <memory>

#include "sql-lite-frontend/query/bind/query.h"

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

}  // namespace swizzle::sql
