#pragma once

#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

/// Definitions of routines as SQL, for pg_get_functiondef and others.
namespace swizzle::sql {

enum class ShownDefaults : std::uint8_t { shown, hidden };
/// Returns the parameters, "a integer, OUT b text", without the columns of RETURNS TABLE.
std::string shown_arguments(StatementContext& session, const Routine& routine,
                            ShownDefaults defaults);
/// Returns the result type, such as "SETOF integer" or "TABLE(a integer)"; empty for a procedure.
std::string shown_result(StatementContext& session, const Routine& routine);
/// Returns RETURN … or BEGIN ATOMIC … END with the relations' current names.
std::string shown_atomic_body(StatementContext& session, const Routine& routine);
std::string shown_definition(StatementContext& session, const Routine& routine);
/// Returns a parameter's default; empty if it has none.
std::string shown_default(StatementContext& session, const RoutineParameter& parameter);

}  // namespace swizzle::sql
