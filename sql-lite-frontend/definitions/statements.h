#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// DDL statements: `statement/statement_kinds.inc` calls them.
namespace swizzle::sql {

void create_table(StatementContext& session, const ast::CreateStmt& statement, ResultSink& sink);
void create_table_as(StatementContext& session, const ast::CreateTableAsStmt& statement,
                     const Statement& whole, std::span<const Value> parameters, ResultSink& sink);
void create_index(StatementContext& session, const ast::IndexStmt& statement, ResultSink& sink);
void create_view(StatementContext& session, const ast::ViewStmt& statement, const Statement& whole,
                 ResultSink& sink);
void create_sequence(StatementContext& session, const ast::CreateSeqStmt& statement,
                     ResultSink& sink);
void alter_sequence(StatementContext& session, const ast::AlterSeqStmt& statement,
                    ResultSink& sink);
void create_schema(StatementContext& session, const ast::CreateSchemaStmt& statement,
                   const Statement& whole, ResultSink& sink);
void drop_objects(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void truncate_tables(StatementContext& session, const ast::TruncateStmt& statement,
                     ResultSink& sink);
void refresh_view(StatementContext& session, const ast::RefreshMatViewStmt& statement);
void alter_table(StatementContext& session, const ast::AlterTableStmt& statement, ResultSink& sink);
void rename_object(StatementContext& session, const ast::RenameStmt& statement, ResultSink& sink);
void change_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement,
                   ResultSink& sink);
void change_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void comment_on(StatementContext& session, const ast::CommentStmt& statement, ResultSink& sink);
void create_database(StatementContext& session, const ast::CreatedbStmt& statement);
void drop_database(StatementContext& session, const ast::DropdbStmt& statement, ResultSink& sink);
void alter_database(StatementContext& session, const ast::AlterDatabaseStmt& statement);
void refresh_database_collation(StatementContext& session,
                                const ast::AlterDatabaseRefreshCollStmt& statement,
                                ResultSink& sink);
void grant_rights(StatementContext& session, const ast::GrantStmt& statement, ResultSink& sink);
void grant_membership(StatementContext& session, const ast::GrantRoleStmt& statement,
                      ResultSink& sink);
void vacuum_tables(StatementContext& session, const ast::VacuumStmt& statement, ResultSink& sink);
void create_role(StatementContext& session, const ast::CreateRoleStmt& statement, ResultSink& sink);
void alter_role(StatementContext& session, const ast::AlterRoleStmt& statement, ResultSink& sink);
void drop_role(StatementContext& session, const ast::DropRoleStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
