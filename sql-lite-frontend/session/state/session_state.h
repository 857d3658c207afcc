#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/shared/statement_cache.h"
#include "sql-lite-frontend/session/state/activity.h"
#include "sql-lite-frontend/session/state/session_notifications.h"
#include "sql-lite-frontend/session/state/session_plans.h"
#include "sql-lite-frontend/session/state/session_portals.h"
#include "sql-lite-frontend/session/state/session_transaction.h"
#include "sql-lite-frontend/session/state/session_variables.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

class LargeObjectDescriptors;
class RowIdentities;

/// One session's state: the StatementContext that statements see, and the session's parts, which
/// access each other through it. `variables` has its settings in SQL's form, `plans` its parsed
/// texts and plans, `portals` the running statements. Used in session/ alone.
struct Session::State final : StatementContext, InnerStatements {
  State(Database::Shared& shared_database, SessionOptions session_options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() override;

  /// Called at the end of a request: sets the state that pg_stat_activity shows while the session
  /// waits for its client.
  void note_rest() noexcept;
  /// Called when a request begins to run `text`.
  void note_query(std::string_view text);
  /// Notes the error of a request, or of a part of one that goes on.
  void note_failure(SqlState failure, std::string_view message) noexcept override;

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

  // prepared.cpp
  StatementPtr prepared_by(const ast::ExecuteStmt& statement);
  /// Makes the portal of a prepared statement with the values that EXECUTE gives it. 0A000 for a
  /// statement without a plan.
  PortalPtr portal_of(const ast::ExecuteStmt& statement) override;
  void send_text_row(ResultSink& sink, std::string_view column, std::string_view value);

  /// Removes the session from the database's.
  void leave();
  void add_usage(DatabaseUsage& to) const;

  // StatementServices and InnerStatements: services.cpp.
  std::uint64_t run_internal(const std::string& sql, std::span<const TypeId> types,
                             std::span<const Value> parameters,
                             ReadView::Sees sees = ReadView::Sees::latest,
                             const RowVisitor& visit = {}) override;
  void defer_check(const DeferredCheck& check) override;
  bool acts_as_replica() override;
  Value call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                     std::span<const Value> arguments) override;
  std::unique_ptr<SetCursor> open_routine(Execution& caller, const RoutineCall& call,
                                          std::span<const Value> arguments) override;
  bool may_fire(const Trigger& trigger) override;
  std::optional<std::span<const Value>> fire(Execution& execution, const Trigger& trigger,
                                             const TablePtr& table, TriggerEvent event,
                                             const FiredRows& rows) override;
  void fire_deferred(const TablePtr& table, const DeferredCheck& check) override;
  std::string cursor_row_key(std::string_view cursor, const Table& table) override;
  StatementPtr parse(const std::string& text) override;
  void analyze(Statement& statement) override;
  PlanUsePtr plan_for(Statement& statement) override;
  PlanUsePtr make_plan(Statement& statement) override;
  bool is_current(const PlanUsePtr& use) override;
  void forget_role() noexcept override;
  PortalPtr make_portal(StatementPtr statement, std::span<const Value> parameters) override;
  PortalPtr make_empty_portal() override;
  void recycle(PortalPtr portal) noexcept override;
  void prepare_inner(Portal& portal, bool may_write) override;
  PlanRun& open_inner(Portal& portal, Reads reads) override;
  void start(Portal& portal) override;
  void finish(Portal& portal) override;
  PortalPtr find_portal(std::string_view name) const override;
  std::uint64_t last_portal_number() const noexcept override;
  void open_cursor(const PortalPtr& portal, CursorScroll scroll) override;
  void fetch(const ast::FetchStmt& statement, ResultSink& sink) override;
  void close_portal(std::string_view name) override;
  void run_utility(const ast::Node* node, Statement& statement, std::span<const Value> parameters,
                   ResultSink& sink) override;
  void end_transaction(TransactionEnd end, NextTransaction next) override;
  bool tell_of_long_names(std::string_view text, ResultSink& sink) override;
  const Function& identity_numbers() override;
  const RowIdentityFunctions& row_identity_functions() override;

  // The session's own parts, of which statements see only StatementContext.
  Database::Shared& shared;
  SessionVariables variables{*this};
  SessionTransaction transaction{*this};
  SessionPlans plans{*this};  ///< outlives all plans
  SessionPortals portals{*this};
  SessionNotifications notifications{*this};

  Session* owner = nullptr;
  /// On a standby: inside the engine's replay gate, from a request on until no transaction is open.
  /// Outside, a promotion may change the session's transaction.
  std::atomic<bool> is_inside_gate{false};
  /// The server has been promoted since the last request.
  bool was_promoted = false;
  /// Does nothing elsewhere, and inside. Throws if the session is to end.
  void enter_gate() {
    if (ReplayGate* const gate = shared.engine.replay_gate(); gate != nullptr) [[unlikely]]
      enter_gate(*gate);
  }
  void enter_gate(ReplayGate& gate);
  /// Enters whatever the session is asked, unless nobody is let in any more.
  void enter_gate_to_end() noexcept;
  /// Leaves unless a later request reads by the same view.
  void leave_gate() noexcept;
  /// In the middle of a statement that reads no table: waits outside of the gate until the server
  /// is promoted. False: it was not within that time. Throws if the session is asked to end.
  bool await_promotion(Duration longest);
  /// Tells the client what the promotion has changed.
  void follow_promotion(ResultSink& sink);
  std::unordered_map<std::string, StatementPtr, NameHash, std::equal_to<>> statements;
  /// Identities of the rows that were shown as ctid in this transaction; null: none.
  std::shared_ptr<RowIdentities> row_identities;
  /// Large objects that this transaction has opened; null: none.
  std::shared_ptr<LargeObjectDescriptors> large_objects;
  // For currval() and lastval().
  std::map<Oid, SequenceUse> sequence_uses;
  std::optional<Oid> last_sequence;

  std::string current_query;  ///< for reports of deadlocks
  Activity activity;
  bool advisory_locks_used = false;
  bool slots_used = false;   ///< replication slots of the log
  int executes_running = 0;  ///< EXECUTE of EXECUTE of …
};

/// Returns the session whose plan runs.
inline Session::State& session_of(const Execution& execution) noexcept {
  return static_cast<Session::State&>(execution.services);
}
/// Returns the session that calls a function.
inline Session::State& session_of(const FunctionContext& context) {
  return static_cast<Session::State&>(context_of(context));
}
/// Returns the session in which a function is evaluated, or null.
inline const Session::State* session_of(const SessionContext& context) {
  return static_cast<const Session::State*>(SessionNames::context_of(context));
}

}  // namespace swizzle::sql
