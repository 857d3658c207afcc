#pragma once

#include <span>

#include "sql-lite-frontend/session/state/session_state.h"

/// Statements without a plan that change no definition.
namespace swizzle::sql {

void copy_rows(Session::State& session, const ast::CopyStmt& statement, ResultSink& sink);
void explain_statement(Session::State& session, const ast::ExplainStmt& statement, Statement& whole,
                       std::span<const Value> parameters, ResultSink& sink);
void lock_table(Session::State& session, const ast::LockStmt& statement);
void alter_role_settings(Session::State& session, const ast::AlterRoleSetStmt& statement);
void alter_database_settings(Session::State& session, const ast::AlterDatabaseSetStmt& statement);
void alter_system(Session::State& session, const ast::AlterSystemStmt& statement);
void prepare_statement(Session::State& session, const ast::PrepareStmt& statement,
                       const Statement& whole);
void execute_statement(Session::State& session, const ast::ExecuteStmt& statement,
                       ResultSink& sink);
void deallocate_statement(Session::State& session, const ast::DeallocateStmt& statement);
void write_checkpoint(Session::State& session, const ast::CheckPointStmt& statement);
/// Throws 0A000, or the error of an option.
[[noreturn]] void refuse_cluster(Session::State& session, const ast::ClusterStmt& statement);
void discard_state(Session::State& session, const ast::DiscardStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
