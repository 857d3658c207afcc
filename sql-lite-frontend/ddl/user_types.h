#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

/// CREATE, ALTER and DROP TYPE and DOMAIN.
namespace swizzle::sql {

void create_enum(Session::State& session, const ast::CreateEnumStmt& statement, ResultSink& sink);
void create_range(Session::State& session, const ast::CreateRangeStmt& statement, ResultSink& sink);
void alter_enum(Session::State& session, const ast::AlterEnumStmt& statement, ResultSink& sink);
void rename_type(Session::State& session, const ast::Node* names, ast::ObjectType kind,
                 const std::string& new_name);
void set_type_owner(Session::State& session, const ast::AlterOwnerStmt& statement);
void set_type_schema(Session::State& session, const ast::AlterObjectSchemaStmt& statement);
void create_composite(Session::State& session, const ast::CompositeTypeStmt& statement,
                      ResultSink& sink);
/// ALTER TYPE … ADD, DROP and ALTER ATTRIBUTE.
void alter_composite(Session::State& session, const ast::AlterTableStmt& statement,
                     ResultSink& sink);
void rename_attribute(Session::State& session, const ast::RenameStmt& statement);
/// CREATE TYPE without a definition.
void create_shell_type(Session::State& session, const ast::DefineStmt& statement, ResultSink& sink);
void create_domain(Session::State& session, const ast::CreateDomainStmt& statement,
                   ResultSink& sink);
void alter_domain(Session::State& session, const ast::AlterDomainStmt& statement, ResultSink& sink);
void rename_domain_check(Session::State& session, const ast::RenameStmt& statement);
/// COMMENT ON CONSTRAINT … ON DOMAIN.
void comment_on_domain_check(Session::State& session, ast::NodeList names, const std::string& text);
/// COMMENT ON COLUMN; false where the name is no composite type's.
bool comment_on_attribute(Session::State& session, ast::NodeList type, std::string_view attribute,
                          const std::string& text);
void comment_on_type(Session::State& session, const UserType& type, const std::string& text);
void drop_types(Session::State& session, const ast::DropStmt& statement, ResultSink& sink);

/// Keeps the type from being dropped before the transaction that gives it to a column is over.
/// 42501 without USAGE. Does nothing for a type that is not user-defined.
void hold_type(Session::State& session, TypeId type);

/// 42P07 where a relation, an index or a composite type of the schema has the name: all of them
/// are relations.
void refuse_relation_name(Session::State& session, Oid schema, std::string_view name);

/// A relation may not have a type's name in its schema, since its rows are a type of that name. A
/// shell of that name ends.
void refuse_type_name(Session::State& session, Oid schema, std::string_view name);

}  // namespace swizzle::sql
