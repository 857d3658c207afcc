#pragma once

#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

/// Routines as SQL, for pg_get_functiondef and its like.
namespace swizzle::sql {

enum class ShownDefaults : std::uint8_t { shown, hidden };
/// "a integer, OUT b text", without the columns of RETURNS TABLE.
std::string shown_arguments(StatementContext& session, const Routine& routine,
                            ShownDefaults defaults);
/// "SETOF integer", "TABLE(a integer)"; empty for a procedure.
std::string shown_result(StatementContext& session, const Routine& routine);
/// RETURN … or BEGIN ATOMIC … END with the names that its relations have now.
std::string shown_atomic_body(StatementContext& session, const Routine& routine);
std::string shown_definition(StatementContext& session, const Routine& routine);
/// Returns the default of one parameter; empty: none.
std::string shown_default(StatementContext& session, const RoutineParameter& parameter);

}  // namespace swizzle::sql
