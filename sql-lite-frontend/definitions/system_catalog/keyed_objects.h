#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Objects whose rows in a system relation may have a key: all objects where there is no key. By a
/// number, these are the object of that number, objects that have it as a part, and objects that
/// name it.
namespace swizzle::sql {

/// In ascending order of oid.
std::vector<TablePtr> tables_for(StatementContext& session, const RowKey& key);
std::vector<TypePtr> types_for(StatementContext& session, const RowKey& key);
std::vector<RoutinePtr> routines_for(StatementContext& session, const RowKey& key);
/// Returns the tables among which is the one with that number, or with a part of that number: an
/// index, a constraint, a trigger, a policy, a default, a rule.
std::vector<TablePtr> tables_with_part(StatementContext& session, Oid number);
/// The same for pg_depend, in whose rows parts of tables may depend on parts of other tables.
std::vector<TablePtr> tables_for_dependency(StatementContext& session, const RowKey& key);

}  // namespace swizzle::sql
