#pragma once

#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// Returns the bound that a partition of `parent` has. `partition` is the relation `oid` as it was
/// found. 42P01 if it is no partition of `parent` any more: the records of the two are read one
/// after the other, and others may change the definitions in between.
const PartitionBound& bound_within(Oid parent, Oid oid, const TablePtr& partition);

}  // namespace swizzle::sql
