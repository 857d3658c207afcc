#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/session_state.h"

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
void call_procedure(Session::State& session, const ast::CallStmt& statement,
                    std::span<const TypeId> types, std::span<const Value> parameters,
                    ResultSink& sink);
/// DO.
void run_inline_code(Session::State& session, const ast::DoStmt& statement, const Statement& whole,
                     ResultSink& sink);
/// What is known of a CALL before it runs: what it answers with, which are the procedure's OUT
/// parameters, and the types of the statement's own parameters.
struct DescribedCall {
  std::vector<OutputTarget> columns;
  std::vector<TypeId> parameter_types;
};
DescribedCall describe_call(Session::State& session, const ast::CallStmt& statement,
                            std::span<const TypeId> types);

constexpr bool is_routine(ast::ObjectType type) noexcept {
  return type == ast::ObjectType::function || type == ast::ObjectType::procedure ||
         type == ast::ObjectType::routine;
}
/// "CREATE FUNCTION"'s second word.
std::string_view routine_noun(ast::ObjectType type) noexcept;

/// What names a routine in a definition. Null where there is none of the user's: it may be a
/// built-in one. 42725 for a name without arguments that several have.
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

/// A type in a routine's signature.
struct SignatureType {
  TypeId type = TypeId::none;
  Oid relation = kNoOid;  ///< whose row type it is; `type` is record then
};
/// table.column%TYPE means the type that the column has now, which `told` is told.
SignatureType signature_type(Session::State& session, const ast::TypeName& name, ResultSink* told);

/// Throws 42601 for an option that is among `seen`, which only SET may be, and puts it there.
void note_option(const ast::DefElem& option, std::vector<std::string_view>& seen);
/// What CREATE and ALTER may both say of a routine. False: it is none of these.
bool apply_common_option(Session::State& session, const ast::DefElem& option, Routine& routine);
/// Throws where COST or ROWS do not suit the routine.
void check_costs(const Routine& routine);

}  // namespace swizzle::sql
