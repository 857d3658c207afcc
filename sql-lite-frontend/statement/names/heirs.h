#pragma once

#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Tables that inherit from others (INHERITS).
namespace swizzle::sql {

/// Returns the table and all tables that inherit from it, at all levels, each once: nearer ones
/// first, and those of one table by number, as in PostgreSQL.
std::vector<TablePtr> with_heirs(StatementContext& session, const TablePtr& table);
/// Returns the table with its partitions, or with its heirs.
std::vector<TablePtr> with_parts(StatementContext& session, const TablePtr& table);
/// Returns the children of the table.
std::vector<TablePtr> children_of(StatementContext& session, const Relation& relation);
/// Adds the relation to the parent's list of children. Statements that read the parent are planned
/// again.
void join_heir(StatementContext& session, Oid parent, Oid child);
/// Removes the relation from the parent's list of children.
void leave_heir(StatementContext& session, Oid parent, Oid child);

}  // namespace swizzle::sql
