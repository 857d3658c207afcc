#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP of aggregates, operators, casts and extensions. Aggregates are routines:
/// routine_definition.h has the statements that they share with other routines.
namespace swizzle::sql {

/// CREATE AGGREGATE, CREATE OPERATOR and other statements of that form.
void define_object(StatementContext& session, const ast::DefineStmt& statement, ResultSink& sink);
void create_aggregate(StatementContext& session, const ast::DefineStmt& statement,
                      ResultSink& sink);
void create_operator(StatementContext& session, const ast::DefineStmt& statement, ResultSink& sink);
void alter_operator(StatementContext& session, const ast::AlterOperatorStmt& statement);
void drop_operators(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void set_operator_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void set_operator_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
void comment_on_operator(StatementContext& session, const ast::ObjectWithArgs& object,
                         std::string_view text);
void create_cast(StatementContext& session, const ast::CreateCastStmt& statement, ResultSink& sink);
void drop_casts(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
/// `types`: source and target type.
void comment_on_cast(StatementContext& session, ast::NodeList types, std::string_view text);
void create_extension(StatementContext& session, const ast::CreateExtensionStmt& statement,
                      ResultSink& sink);
void alter_extension(StatementContext& session, const ast::AlterExtensionStmt& statement,
                     ResultSink& sink);
void set_extension_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
void drop_extensions(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void comment_on_extension(StatementContext& session, std::string_view name, std::string_view text);

/// Returns a description: "operator ===(integer,integer)", "cast from text to mood".
std::string described(StatementContext& session, const UserOperator& op);
std::string described(StatementContext& session, const UserCast& cast);

/// Removes the operator, also as the commutator or negator of others.
void remove_operator(StatementContext& session, const UserOperator& op);

/// Returns the extension that contains the object, or null.
ExtensionPtr extension_of(StatementContext& session, const Extension::Member& member);
/// Throws 2BP01 if an extension contains the object; `what` describes the object.
void refuse_extension_member(StatementContext& session, const Extension::Member& member,
                             std::string_view what);

}  // namespace swizzle::sql
