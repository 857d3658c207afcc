#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER, DROP and other statements about functions and procedures.
namespace swizzle::sql {

void create_routine(StatementContext& session, const ast::CreateFunctionStmt& statement,
                    const Statement& whole, ResultSink& sink);
void alter_routine(StatementContext& session, const ast::AlterFunctionStmt& statement);
void drop_routines(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_routine(StatementContext& session, const ast::RenameStmt& statement);
void set_routine_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void set_routine_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
constexpr bool is_routine(ast::ObjectType type) noexcept {
  return type == ast::ObjectType::function || type == ast::ObjectType::procedure ||
         type == ast::ObjectType::routine || type == ast::ObjectType::aggregate;
}
/// Returns the noun in messages: "function", "procedure", "aggregate" or "routine".
std::string_view routine_noun(ast::ObjectType type) noexcept;

/// Returns the user-defined routine that a definition names. Null if there is none: it may be a
/// built-in one. 42725 for a name without arguments that several routines have.
RoutinePtr find_named_routine(StatementContext& session, const ast::ObjectWithArgs& object,
                              ast::ObjectType type);
/// True if a built-in function has that name and those argument types.
bool names_builtin(StatementContext& session, const ast::ObjectWithArgs& object);
/// Throws 42883 if there is no such routine; 0A000 for a built-in one, 42809 for one of the other
/// kind.
RoutinePtr require_named_routine(StatementContext& session, const ast::ObjectWithArgs& object,
                                 ast::ObjectType type);
/// True if a built-in function has that name, or PostgreSQL has one.
bool is_builtin_function(std::string_view name);
/// Throws 42501.
void require_owner(StatementContext& session, const Routine& routine);

/// Applies an option that CREATE and ALTER share. Returns false for any other option.
bool apply_common_option(StatementContext& session, const ast::DefElem& option, Routine& routine);
/// Throws if COST or ROWS is invalid for the routine.
void check_costs(const Routine& routine);

}  // namespace swizzle::sql
