#pragma once

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/statement/event_trigger_context.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Event triggers: CREATE, ALTER and DROP, and their calls around other definitions.
namespace swizzle::sql {

void create_event_trigger(StatementContext& session, const ast::CreateEventTrigStmt& statement);
void alter_event_trigger(StatementContext& session, const ast::AlterEventTrigStmt& statement);
void drop_event_triggers(StatementContext& session, const ast::DropStmt& statement,
                         ResultSink& sink);
void rename_event_trigger(StatementContext& session, std::string_view name,
                          std::string_view new_name);
void set_event_trigger_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void comment_on_event_trigger(StatementContext& session, std::string_view name,
                              std::string_view text);

/// Runs the triggers of the events around one statement.
class StatementEvents {
 public:
  /// `tag`: the statement's, as in CommandComplete.
  StatementEvents(StatementContext& session, const ast::Node& statement, std::string_view tag);
  StatementEvents(const StatementEvents&) = delete;
  StatementEvents& operator=(const StatementEvents&) = delete;

  /// False if no trigger can fire: nothing needs to be called then.
  [[nodiscard]] bool is_watched() const noexcept { return is_watched_; }
  /// Runs those of ddl_command_start. Pre: the statement has not begun.
  void start();
  /// Runs those of sql_drop and ddl_command_end. Pre: the statement has succeeded.
  void end();

 private:
  StatementContext& session_;
  const ast::Node& statement_;
  std::string_view tag_;
  bool is_watched_ = false;
  std::size_t mark_ = 0;
  Oid first_ = kNoOid;  ///< objects of the statement have this number or a later one
};

/// Runs the triggers of table_rewrite, before a statement writes all rows of the table anew.
/// `reason`: bits of pg_event_trigger_table_rewrite_reason().
void fire_table_rewrite(StatementContext& session, Oid table, std::int32_t reason);

/// True if the login of a client may fire triggers.
bool has_login_triggers(StatementContext& session);
/// Runs the triggers of login.
void fire_login(StatementContext& session);

}  // namespace swizzle::sql
