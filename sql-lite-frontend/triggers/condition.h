#pragma once

#include <string>

#include "sql-lite-frontend/bind/binder.h"

/// WHEN (…) of a trigger: an expression over the old and the new row.
namespace swizzle::sql {

struct ConditionSlots {
  Slot old_row = 0;
  Slot new_row = 0;
};
/// Returns a scope in which old.a and new.a are columns.
Scope condition_scope(Binder& binder, const TablePtr& table, const ConditionSlots& slots);

/// Returns the stored form of the condition in CREATE TRIGGER; throws for conditions that
/// PostgreSQL refuses.
std::string stored_condition(Session::State& session, const TablePtr& table, const Trigger& trigger,
                             const ast::Node* node);
/// Whether it reads the column, counted from 0.
bool condition_reads(Session::State& session, const TablePtr& table, const Trigger& trigger,
                     std::size_t position);
/// Returns the condition with another name of the column.
std::string renamed_condition(Session::State& session, const TablePtr& table,
                              const Trigger& trigger, std::size_t position,
                              const std::string& new_name);
/// Returns the condition as pg_get_triggerdef shows it, with its parentheses.
std::string shown_condition(Session::State& session, const TablePtr& table, const Trigger& trigger,
                            bool pretty);

}  // namespace swizzle::sql
