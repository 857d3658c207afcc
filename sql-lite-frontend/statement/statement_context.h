#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/catalog/catalogs.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/statement/inner_statements.h"
#include "sql-lite-frontend/statement/interruption.h"
#include "sql-lite-frontend/statement/names/session_names.h"
#include "sql-lite-frontend/statement/rights/session_rights.h"
#include "sql-lite-frontend/statement/server_context.h"
#include "sql-lite-frontend/statement/statement.h"
#include "sql-lite-frontend/statement/statement_variables.h"
#include "sql-lite-frontend/statement/tables_in_use.h"
#include "sql-lite-frontend/statement/transactions/statement_transaction.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

class RoutineCodes;
class TriggerCodes;
class CallPlace;
struct TransitionTables;
struct EventTriggerContext;

/// The session as a statement, a definition or a routine sees it.
struct StatementContext : StatementServices {
  /// Sends a notice with the place in routines that it comes from.
  void notice(ResultSink& sink, Severity severity, SqlState state, std::string message);
  /// Sends it unless client_min_messages excludes it.
  void send_notice(ResultSink& sink, Diagnostic diagnostic);
  std::unique_ptr<Scratch> new_scratch();
  void drop_relation(const TablePtr& table);
  void drop_owned_temporaries();
  /// Sets the role that the session acts as, after SET ROLE or a change of roles.
  void choose_user();
  /// Returns a new number of a run, which tells the state that expressions keep for this run from
  /// that of earlier ones.
  std::uint64_t new_run() noexcept { return next_run_++; }
  /// Compared by caches of permissions and of names' meanings.
  [[nodiscard]] RoleStamp role_stamp() const noexcept { return {catalog.stamp(), user}; }

  /// Returns nextval() as identity columns call it: the right to write the column includes its
  /// numbers.
  virtual const Function& identity_numbers() = 0;
  virtual const RowIdentityFunctions& row_identity_functions() = 0;

  // StatementServices, as far as they need no session.
  Engine& storage_engine() noexcept override { return shared.engine; }
  Transaction& engine_transaction() noexcept override { return *transaction; }
  CatalogView& catalog_view() noexcept override { return catalog; }
  NameSource& name_source() noexcept override { return names; }
  WorkMemory& work_memory() noexcept override { return memory; }
  void check_cancelled() override { interruption.check(); }
  WorkSpace maintenance_space() override;
  void run_as_owner(Oid owner, const std::function<void()>& body) override;
  bool is_deferred(const Constraint& constraint) override;
  bool is_deferred(const Trigger& trigger) override;
  ReferenceQueue& reference_queue() noexcept override { return transaction.references(); }
  const TransitionTables* transition_tables() const noexcept override { return trigger_tables; }
  std::string schema_name(Oid schema) override;
  bool may_read(const TablePtr& table, std::span<const std::int16_t> columns) override;
  bool hides_rows(const Table& table) override;
  bool keep_definition(const TablePtr& table, lock::RelationMode mode,
                       CatalogView::Stamp& seen_at) override;
  TableShapes& table_shapes() noexcept override { return shared.table_shapes; }
  bool logs_changes() override;

  ServerContext& shared;
  StatementTransaction& transaction;
  StatementVariables& variables;
  InnerStatements& inner;
  SessionOptions options;
  SessionSettings settings;
  SessionContext session_context;
  Catalogs::Use database_use;
  CatalogView catalog;
  /// Declared before all members with temporary files, which are counted when they are destroyed.
  SessionUsage usage;
  TemporaryFiles temporary_files;
  /// Declared before all members that keep rows, which release their shares when destroyed; names
  /// do, for the checks of domains.
  WorkMemory memory;
  SessionNames names{*this};
  SessionRights rights{*this};
  TablesInUse tables_in_use;  ///< outlives all runs
  Interruption interruption;

  // The session's roles, by number: a role that is dropped and created again is another one, a
  // renamed role is the same. A role's rights are looked up at each use.
  Oid login = kNoOid;         ///< the login role
  Oid session_user = kNoOid;  ///< that, or the one of SET SESSION AUTHORIZATION
  Oid user = kNoOid;          ///< that, or the one of SET ROLE
  /// Role whose rights the running routine has; none: the session's role.
  Oid acting_user = kNoOid;
  // Restrictions of such a routine (statement/rights/acting_user.h).
  bool in_definer = false;
  bool is_restricted = false;
  /// Meanings of the names in the two settings when they were set.
  std::map<std::string, Oid> known_session_users;
  std::map<std::string, Oid> known_current_users;
  std::vector<Oid> known_collations;  ///< their versions have been checked

  /// Positions in the running routines, outermost first.
  std::vector<const CallPlace*> call_places;
  /// Tables that a running trigger's function may name; null: none.
  const TransitionTables* trigger_tables = nullptr;
  std::int32_t trigger_depth = 0;  ///< how many triggers run within one another
  /// The event whose triggers are running (statement/event_trigger_context.h); null: none.
  const EventTriggerContext* event_trigger = nullptr;
  /// Prepared code of the routines called last (routines/language.h).
  std::shared_ptr<RoutineCodes> routine_codes;
  /// The same for functions of triggers (routines/triggers/trigger_codes.h).
  std::shared_ptr<TriggerCodes> trigger_codes;
  /// Formats in Bind, while a statement without a plan of its own runs: EXECUTE, FETCH.
  std::optional<std::span<const Format>> bound_formats;
  ResultSink* sink_for_notices = nullptr;

 protected:
  /// The session's parts, which may not be constructed yet.
  struct Parts {
    ServerContext& shared;
    StatementTransaction& transaction;
    StatementVariables& variables;
    InnerStatements& inner;
  };
  StatementContext(const Parts& parts, SessionOptions session_options);
  ~StatementContext() override;

 private:
  std::uint64_t next_run_ = 1;
};

/// Returns the context of the statement whose plan runs.
inline StatementContext& context_of(const Execution& execution) noexcept {
  return static_cast<StatementContext&>(execution.services);
}

/// Returns the context of the statement that calls a function.
inline StatementContext& context_of(const FunctionContext& context) {
  const StatementContext* const found = SessionNames::context_of(context.session);
  STATEMENT_INVARIANT(found != nullptr);
  // The functions' interface passes it as const, although functions of a session may change it.
  return const_cast<StatementContext&>(*found);
}

}  // namespace swizzle::sql
