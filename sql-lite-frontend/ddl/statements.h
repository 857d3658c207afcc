#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

/// Statements that define, change and drop things. Each sends its own tag.
namespace swizzle::sql {

void create_table(Session::State& session, const ast::CreateStmt& statement, ResultSink& sink);
void create_table_as(Session::State& session, const ast::CreateTableAsStmt& statement,
                     const Statement& whole, std::span<const Value> parameters, ResultSink& sink);
void create_index(Session::State& session, const ast::IndexStmt& statement, ResultSink& sink);
void create_view(Session::State& session, const ast::ViewStmt& statement, const Statement& whole,
                 ResultSink& sink);
void create_sequence(Session::State& session, const ast::CreateSeqStmt& statement,
                     ResultSink& sink);
void alter_sequence(Session::State& session, const ast::AlterSeqStmt& statement, ResultSink& sink);
void create_schema(Session::State& session, const ast::CreateSchemaStmt& statement,
                   ResultSink& sink);
void drop_objects(Session::State& session, const ast::DropStmt& statement, ResultSink& sink);
void truncate_tables(Session::State& session, const ast::TruncateStmt& statement, ResultSink& sink);
void refresh_view(Session::State& session, const ast::RefreshMatViewStmt& statement,
                  ResultSink& sink);
void alter_table(Session::State& session, const ast::AlterTableStmt& statement, ResultSink& sink);
void rename_object(Session::State& session, const ast::RenameStmt& statement, ResultSink& sink);
void change_schema(Session::State& session, const ast::AlterObjectSchemaStmt& statement,
                   ResultSink& sink);
void change_owner(Session::State& session, const ast::AlterOwnerStmt& statement, ResultSink& sink);
void comment_on(Session::State& session, const ast::CommentStmt& statement, ResultSink& sink);
void create_database(Session::State& session, const ast::CreatedbStmt& statement, ResultSink& sink);
void drop_database(Session::State& session, const ast::DropdbStmt& statement, ResultSink& sink);
void alter_database(Session::State& session, const ast::AlterDatabaseStmt& statement,
                    ResultSink& sink);
void refresh_database_collation(Session::State& session,
                                const ast::AlterDatabaseRefreshCollStmt& statement,
                                ResultSink& sink);
void grant_rights(Session::State& session, const ast::GrantStmt& statement, ResultSink& sink);
void grant_membership(Session::State& session, const ast::GrantRoleStmt& statement,
                      ResultSink& sink);
void vacuum_tables(Session::State& session, const ast::VacuumStmt& statement, ResultSink& sink);
void create_role(Session::State& session, const ast::CreateRoleStmt& statement, ResultSink& sink);
void alter_role(Session::State& session, const ast::AlterRoleStmt& statement, ResultSink& sink);
void drop_role(Session::State& session, const ast::DropRoleStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
