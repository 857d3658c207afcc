#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

/// CREATE, ALTER and DROP of triggers. A trigger is part of its table's record.
namespace swizzle::sql {

void create_trigger(StatementContext& session, const ast::CreateTrigStmt& statement);
void drop_trigger(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink);
void rename_trigger(StatementContext& session, const ast::RenameStmt& statement);
/// COMMENT ON TRIGGER; `object` is the table's name and the trigger's.
void comment_on_trigger(StatementContext& session, ast::NodeList object, std::string_view text);
/// ALTER TABLE … ENABLE or DISABLE TRIGGER. Returns false for other commands.
bool enable_triggers(StatementContext& session, const ast::AlterTableCmd& command,
                     Relation& relation);
/// Returns the trigger's description, "trigger x on table t".
std::string described(StatementContext& session, const Table& table, const Trigger& trigger);

}  // namespace swizzle::sql
