#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"

/// CREATE, ALTER, DROP and their like, of functions and procedures.
namespace swizzle::sql {

void create_routine(Session::State& session, const ast::CreateFunctionStmt& statement,
                    const Statement& whole, ResultSink& sink);
void alter_routine(Session::State& session, const ast::AlterFunctionStmt& statement,
                   ResultSink& sink);
void drop_routines(Session::State& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_routine(Session::State& session, const ast::RenameStmt& statement);
void set_routine_owner(Session::State& session, const ast::AlterOwnerStmt& statement);
void set_routine_schema(Session::State& session, const ast::AlterObjectSchemaStmt& statement);
constexpr bool is_routine(ast::ObjectType type) noexcept {
  return type == ast::ObjectType::function || type == ast::ObjectType::procedure ||
         type == ast::ObjectType::routine || type == ast::ObjectType::aggregate;
}
/// "CREATE FUNCTION"'s second word.
std::string_view routine_noun(ast::ObjectType type) noexcept;

/// Returns the user-defined routine that a definition names. Null if there is none: it may be a
/// built-in one. 42725 for a name without arguments that several routines have.
RoutinePtr find_named_routine(Session::State& session, const ast::ObjectWithArgs& object,
                              ast::ObjectType type);
/// Whether the types are those of a built-in function of that name.
bool names_builtin(Session::State& session, const ast::ObjectWithArgs& object);
/// Throws 42883; 0A000 for a built-in one, 42809 for one of the other kind.
RoutinePtr require_named_routine(Session::State& session, const ast::ObjectWithArgs& object,
                                 ast::ObjectType type);
/// Whether the server, or PostgreSQL, brings one of that name.
bool is_builtin_function(std::string_view name);
/// 42501.
void require_owner(Session::State& session, const Routine& routine);

/// Applies an option that both CREATE and ALTER have. False: it is none of these.
bool apply_common_option(Session::State& session, const ast::DefElem& option, Routine& routine);
/// Throws where COST or ROWS do not suit the routine.
void check_costs(const Routine& routine);

}  // namespace swizzle::sql
