#pragma once

#include <string>

#include "sql-lite-frontend/query/bind/trigger_scope.h"

/// WHEN (…) of a trigger: an expression over the old and the new row.
namespace swizzle::sql {

struct StatementContext;

/// Returns the stored form of the condition in CREATE TRIGGER; throws for conditions that
/// PostgreSQL refuses.
std::string stored_condition(StatementContext& session, const TablePtr& table,
                             const Trigger& trigger, const ast::Node* node);
/// True if it reads the column, counted from 0.
bool condition_reads(StatementContext& session, const TablePtr& table, const Trigger& trigger,
                     std::size_t position);
/// Returns the condition with another name of the column.
std::string renamed_condition(StatementContext& session, const TablePtr& table,
                              const Trigger& trigger, std::size_t position,
                              const std::string& new_name);
/// Returns the condition as pg_get_triggerdef shows it, with its parentheses.
std::string shown_condition(StatementContext& session, const TablePtr& table,
                            const Trigger& trigger, bool pretty);

}  // namespace swizzle::sql
