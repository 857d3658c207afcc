#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP TYPE and DOMAIN.
namespace swizzle::sql {

void create_enum(StatementContext& session, const ast::CreateEnumStmt& statement);
void create_range(StatementContext& session, const ast::CreateRangeStmt& statement);
void alter_enum(StatementContext& session, const ast::AlterEnumStmt& statement, ResultSink& sink);
void rename_type(StatementContext& session, const ast::Node* names, ast::ObjectType kind,
                 const std::string& new_name);
void set_type_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void set_type_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement);
void create_composite(StatementContext& session, const ast::CompositeTypeStmt& statement);
/// ALTER TYPE … ADD, DROP and ALTER ATTRIBUTE.
void alter_composite(StatementContext& session, const ast::AlterTableStmt& statement,
                     ResultSink& sink);
void rename_attribute(StatementContext& session, const ast::RenameStmt& statement);
/// CREATE TYPE name: creates a shell type.
void create_shell_type(StatementContext& session, const ast::DefineStmt& statement);
void create_domain(StatementContext& session, const ast::CreateDomainStmt& statement);
void alter_domain(StatementContext& session, const ast::AlterDomainStmt& statement,
                  ResultSink& sink);
void rename_domain_check(StatementContext& session, const ast::RenameStmt& statement);
/// COMMENT ON CONSTRAINT … ON DOMAIN.
void comment_on_domain_check(StatementContext& session, ast::NodeList names,
                             const std::string& text);
/// COMMENT ON COLUMN of a composite type; returns false if there is no such type.
bool comment_on_attribute(StatementContext& session, ast::NodeList type, std::string_view attribute,
                          const std::string& text);
void comment_on_type(StatementContext& session, const UserType& type, const std::string& text);
void drop_types(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);

/// Locks the type against DROP until the end of the transaction that uses it in a column. Throws
/// 42501 without USAGE. Has no effect on built-in types.
void hold_type(StatementContext& session, TypeId type);

/// Throws 42P07 if a relation, index or composite type of the schema has the name.
void refuse_relation_name(StatementContext& session, Oid schema, std::string_view name);

/// Throws if a type of the schema has the relation's name, because the row type has it too. Removes
/// a shell type of that name.
void refuse_type_name(StatementContext& session, Oid schema, std::string_view name);

}  // namespace swizzle::sql
