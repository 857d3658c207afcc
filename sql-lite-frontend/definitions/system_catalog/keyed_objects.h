#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Objects whose rows in a system relation may match a key: all objects if there is no key; for an
/// oid, the object itself, objects with a part of that oid, and objects that refer to it.
namespace swizzle::sql {

/// Sorted by oid.
std::vector<TablePtr> tables_for(StatementContext& session, const RowKey& key);
std::vector<TypePtr> types_for(StatementContext& session, const RowKey& key);
std::vector<RoutinePtr> routines_for(StatementContext& session, const RowKey& key);
/// Returns tables that include the table with this oid, or with a part of this oid: an index, a
/// constraint, a trigger, a policy, a default, a rule.
std::vector<TablePtr> tables_with_part(StatementContext& session, Oid number);
/// The same for pg_depend: a part of one table may depend on a part of another.
std::vector<TablePtr> tables_for_dependency(StatementContext& session, const RowKey& key);

}  // namespace swizzle::sql
