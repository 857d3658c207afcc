#pragma once

#include <string>

#include "sql-lite-frontend/query/bind/trigger_scope.h"

/// Condition of a trigger, WHEN (…): an expression over the old and the new row.
namespace swizzle::sql {

struct StatementContext;

/// Returns the stored form of a CREATE TRIGGER's condition. Throws for conditions that PostgreSQL
/// refuses.
std::string stored_condition(StatementContext& session, const TablePtr& table,
                             const Trigger& trigger, const ast::Node* node);
/// True if the condition reads the column, counted from 0.
bool condition_reads(StatementContext& session, const TablePtr& table, const Trigger& trigger,
                     std::size_t position);
/// Returns the stored condition after the column was renamed.
std::string renamed_condition(StatementContext& session, const TablePtr& table,
                              const Trigger& trigger, std::size_t position,
                              const std::string& new_name);
/// Returns the condition in parentheses, as pg_get_triggerdef shows it.
std::string shown_condition(StatementContext& session, const TablePtr& table,
                            const Trigger& trigger, bool pretty);

}  // namespace swizzle::sql
