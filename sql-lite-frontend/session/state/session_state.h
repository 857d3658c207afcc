#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/shared/statement.h"
#include "sql-lite-frontend/session/shared/statement_cache.h"
#include "sql-lite-frontend/session/state/activity.h"
#include "sql-lite-frontend/session/state/interruption.h"
#include "sql-lite-frontend/session/state/session_names.h"
#include "sql-lite-frontend/session/state/session_notifications.h"
#include "sql-lite-frontend/session/state/session_plans.h"
#include "sql-lite-frontend/session/state/session_portals.h"
#include "sql-lite-frontend/session/state/session_rights.h"
#include "sql-lite-frontend/session/state/session_transaction.h"
#include "sql-lite-frontend/session/state/session_variables.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

class RoutineCodes;
class RowIdentities;
class TriggerCodes;
class CallPlace;
struct TransitionTables;

/// One session from the inside: its parts, which know one another through it. `names` has the
/// meanings of names, `rights` the session's rights, `variables` its settings in SQL's form,
/// `plans` its parsed texts and plans, `portals` the running statements.
struct Session::State final {
  State(Database::Shared& shared_database, SessionOptions session_options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  /// Called at the end of a request: sets the state that pg_stat_activity shows for a session that
  /// waits for its client.
  void note_rest() noexcept;
  /// A request begins to run `text`.
  void note_query(std::string_view text);
  /// A request, or a part of one that goes on, has failed so.
  void note_failure(SqlState failure, std::string_view message) noexcept;
  std::unique_ptr<Scratch> new_scratch();

  // run.cpp ---------------------------------------------------------------------------------------
  void run_script(std::string_view text, ResultSink& sink);
  void run_kept_text(const std::string& text, ResultSink& sink);
  /// Runs one statement. SessionPortals::AtEnd::commit outside a transaction block.
  void run_statement(const ast::RawStmt& raw, const std::shared_ptr<const std::string>& script,
                     ResultSink& sink, SessionPortals::AtEnd at_end);
  void check_not_failed(const ast::Node* node);

  // run_shape.cpp
  bool run_shape(std::string_view text, ResultSink& sink);
  bool run_rows(std::string_view text, ResultSink& sink);
  StatementPtr statement_of_shape(const std::string& key, const std::string& shape,
                                  std::vector<TypeId> types, bool repeats_row);
  void run_lifted(PortalPtr portal, ResultSink& sink);

  /// Sets the role that the session acts as, after SET ROLE or a change of roles.
  void choose_user();

  // prepared.cpp
  StatementPtr prepared_by(const ast::ExecuteStmt& statement);
  /// Makes the portal of a prepared statement with the values that EXECUTE gives it. 0A000 for a
  /// statement without a plan.
  PortalPtr portal_of(const ast::ExecuteStmt& statement);
  void send_text_row(ResultSink& sink, std::string_view column, std::string_view value);

  void drop_relation(const TablePtr& table);
  void drop_owned_temporaries();
  /// The session is none of the database's any more.
  void leave();
  void add_usage(DatabaseUsage& to) const;

  void notice(ResultSink& sink, Severity severity, SqlState state, std::string message);
  /// Unless the session does not want to hear notices.
  void send_notice(ResultSink& sink, Diagnostic diagnostic);

  Database::Shared& shared;
  SessionOptions options;
  SessionSettings settings;
  SessionContext session_context;
  Catalogs::Use database_use;
  CatalogView catalog;
  /// Before everything that may have temporary files, which are counted when they go.
  SessionUsage usage;
  TemporaryFiles temporary_files;
  /// Before everything that keeps rows, which gives its share back when it goes; names do, for the
  /// checks of domains.
  WorkMemory memory;
  SessionNames names{*this};
  SessionRights rights{*this};
  /// Compared by whatever remembers what the session may do, or what names mean to it.
  [[nodiscard]] RoleStamp role_stamp() const noexcept { return {catalog.stamp(), user}; }
  // The session's roles, by number: a role that is dropped and made anew is another one, a renamed
  // role is the same. The rights of a role are looked up at each use.
  Oid login = kNoOid;         ///< the login role
  Oid session_user = kNoOid;  ///< that, or the one of SET SESSION AUTHORIZATION
  Oid user = kNoOid;          ///< that, or the one of SET ROLE
  /// Role whose rights the running routine has; none: the session's role.
  Oid acting_user = kNoOid;
  // Restrictions of such a routine (session/state/acting_user.h).
  bool in_definer = false;
  bool is_restricted = false;
  /// Meanings of the names in the two settings when they were set.
  std::map<std::string, Oid> known_session_users;
  std::map<std::string, Oid> known_current_users;
  Session* owner = nullptr;
  SessionVariables variables{*this};
  SessionTransaction transaction{*this};
  SessionPlans plans{*this};  ///< outlives all plans
  SessionPortals portals{*this};
  SessionNotifications notifications{*this};

  /// Positions in the running routines, outermost first.
  std::vector<const CallPlace*> call_places;
  /// Tables that a running trigger's function may name; null: none.
  const TransitionTables* transition_tables = nullptr;
  std::unordered_map<std::string, StatementPtr, NameHash, std::equal_to<>> statements;
  /// Prepared code of the routines that were called last (routines/language.h).
  std::shared_ptr<RoutineCodes> routine_codes;
  /// The same for functions of triggers (triggers/trigger_codes.h).
  std::shared_ptr<TriggerCodes> trigger_codes;
  std::int32_t trigger_depth = 0;  ///< how many run within one another

  /// Identities of the rows that were shown as ctid in this transaction; null: none.
  std::shared_ptr<RowIdentities> row_identities;
  // For currval() and lastval().
  std::map<Oid, SequenceUse> sequence_uses;
  std::optional<Oid> last_sequence;

  Interruption interruption;
  std::string current_query;  ///< for what a deadlock is reported with
  Activity activity;
  /// Formats in Bind, while a statement without a plan of its own runs: EXECUTE, FETCH.
  std::optional<std::span<const Format>> bound_formats;
  bool advisory_locks_used = false;
  bool slots_used = false;            ///< replication slots of the log
  std::vector<Oid> known_collations;  ///< their versions have been checked
  int executes_running = 0;           ///< EXECUTE of EXECUTE of …
  ResultSink* sink_for_notices = nullptr;
};

}  // namespace swizzle::sql
