#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/execute/session_services.h"
#include "sql-lite-frontend/session/activity.h"
#include "sql-lite-frontend/session/database_shared.h"
#include "sql-lite-frontend/session/deferred_checks.h"
#include "sql-lite-frontend/session/interruption.h"
#include "sql-lite-frontend/session/session_names.h"
#include "sql-lite-frontend/session/session_rights.h"
#include "sql-lite-frontend/session/statement.h"
#include "sql-lite-frontend/session/statement_cache.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/write/foreign_keys.h"

namespace swizzle::sql {

class RoutineCodes;
class TriggerCodes;
class PinnedRows;
class CallPlace;
struct TransitionTables;

/// One session from the inside. Its functions lie in files by concern: transactions.cpp,
/// prepare.cpp (parsing, binding, planning), plan_sharing.cpp, run.cpp (portals), cursors.cpp. What
/// a name means is asked of `names`, what may be done of `rights`.
struct Session::State final {
  State(Database::Shared& shared_database, SessionOptions session_options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  // transactions.cpp ------------------------------------------------------------------------------
  enum class Block : std::uint8_t { none, implicit, explicit_block };
  /// What SET CONSTRAINTS said in this transaction.
  struct ConstraintModes {
    std::optional<bool> all_deferred;
    std::map<Oid, bool> deferred;  ///< those that were named since
  };
  struct Savepoint {
    std::string name;
    Transaction::Mark mark;
    std::size_t catalog_mark;
    SessionSettings::Mark settings_mark;
    DeferredChecks::Mark checks_mark;
    std::uint64_t portals_mark;
    PendingNotifications::Mark pending_mark;
    std::size_t moves_mark;
    bool read_only;
    ConstraintModes constraint_modes;
  };
  struct TransactionDefaults {
    Isolation isolation = Isolation::read_committed;
    bool says_uncommitted = false;
    bool read_only = false;
    bool deferrable = false;
    Transaction::Durability durability = Transaction::Durability::synchronous;
    Duration lock_timeout{};
    Duration deadlock_timeout{};
    /// session_replication_role: whose triggers fire.
    bool is_replica = false;
    std::uint64_t revision = 0;  ///< of the server's settings; 0: the session's have changed
  };
  const TransactionDefaults& defaults();
  void begin_transaction(Block kind);
  void set_transaction(std::unique_ptr<Transaction> to);
  /// Ends the wait for a lock that is in progress, if one is. From any thread.
  void interrupt_wait() noexcept;
  /// What SET lock_timeout said counts from the next wait on.
  void apply_lock_timeout();
  void start_engine_transaction();
  [[nodiscard]] Isolation engine_isolation() const noexcept;
  [[nodiscard]] Access engine_access() const noexcept;
  /// Throws when the commit fails; the transaction is over then, too.
  void commit_transaction();
  void rollback_transaction() noexcept;
  void begin_statement();
  /// The same within one that runs, where a routine has ended its transaction.
  void begin_inner_statement() {
    if (!any_statement) [[unlikely]]
      begin_statement();
  }
  void transaction_statement(const ast::TransactionStmt& statement, ResultSink& sink);
  /// After an error: undoes the statement, or everything outside a block.
  void fail_statement(const Savepoint& start);
  [[nodiscard]] Savepoint mark(std::string name = {}) const;
  void roll_back_to(const Savepoint& savepoint);
  void require_read_write(std::string_view command);
  /// A request is done: what pg_stat_activity says of a session that waits for its client.
  void note_rest() noexcept;
  /// A request begins to run `text`.
  void note_query(std::string_view text);
  void end_advisory_locks() noexcept;
  void set_transaction_modes(ast::NodeList options);
  /// SHOW: some settings say what the transaction or the session is.
  [[nodiscard]] Result<std::string> show_setting_value(std::string_view name) const;
  /// SET transaction_isolation and the like: for the present transaction.
  void set_transaction_mode(std::string_view setting, std::string_view value);
  void choose_isolation(Isolation wanted);
  void choose_read_only(bool wanted);
  void choose_deferrable(bool wanted);
  void begin_as_chosen();
  [[nodiscard]] bool in_explicit_block() const noexcept { return block == Block::explicit_block; }
  /// The statements of one message are a transaction, too, though not one with savepoints.
  [[nodiscard]] bool in_block() const noexcept {
    return in_explicit_block() || (in_script && block == Block::implicit);
  }
  void prevent_in_block(std::string_view command);

  // prepare.cpp -----------------------------------------------------------------------------------
  /// What the text says: one statement, or none.
  ParsedTextPtr parsed_text(const std::string& text);
  StatementPtr parse_one(const std::string& text, std::span<const std::uint32_t> type_oids);
  /// Fills in parameter types and result columns; 0A000 when a replan changes the result.
  void analyze(Statement& statement);
  /// A plan that is valid now.
  PlanUsePtr plan_for(Statement& statement, std::span<const Value> parameters);
  /// Right for whatever values the parameters have; known ones help to guess how many rows it
  /// meets.
  PlanUsePtr make_plan(Statement& statement, std::span<const Value> parameters = {});
  [[nodiscard]] bool is_current(const PlanUse& use);
  /// Whether the routines that it calls are still those that it was made for.
  [[nodiscard]] bool has_same_routines(const Plan& plan) const;
  std::unique_ptr<Scratch> new_scratch();

  // plan_sharing.cpp ------------------------------------------------------------------------------
  [[nodiscard]] std::size_t shared_plan_limit() const;
  [[nodiscard]] bool shares_plans() const { return shared_plan_limit() > 0; }
  /// Another session's, where that is what would be made, or one that is made, and shared from now
  /// on if it may be.
  PlanUsePtr plan_of(Statement& statement);
  /// Whether what the statement means to this session is what others may think, too.
  [[nodiscard]] bool may_share(const Statement& statement) const;
  /// All that the plan depends on, but for definitions.
  std::string plan_key(const Statement& statement);
  const std::string& planned_under();
  /// Null: it is not what would be made now.
  PlanUsePtr taken_over(const SharedPlan& known, Statement& statement);
  [[nodiscard]] bool may_read_indexes(const Plan& plan);

  // plan_run.cpp ----------------------------------------------------------------------------------
  /// The portal's run of its plan, which it has from now on.
  PlanRun& run_of(Portal& portal);
  /// Ready to be opened, for what the portal's parameters are.
  PlanRun& begin_run(Portal& portal);
  /// The portal is done with it: it may serve the next.
  void give_back_run(Portal& portal);

  // run.cpp ---------------------------------------------------------------------------------------
  void run_script(std::string_view text, ResultSink& sink);
  bool run_shape(std::string_view text, ResultSink& sink);
  void run_kept_text(const std::string& text, ResultSink& sink);
  PortalPtr make_portal(StatementPtr statement, std::span<const Value> parameters);
  /// The one that was done with last, if nobody has it any more: a warm point query takes no
  /// memory.
  PortalPtr new_portal();
  void put_away(PortalPtr portal) noexcept;
  void describe_columns(const Portal& portal, ResultSink& sink);
  /// Throws what the plan's constants are at fault with.
  static void require_runnable(const Plan& plan);
  /// Whether the transaction is the statement's own and ends with it, before its tag is sent.
  enum class AtEnd : std::uint8_t { stay, commit };
  /// AtEnd::commit where nobody has said BEGIN.
  void run_statement(const ast::RawStmt& raw, const std::shared_ptr<const std::string>& script,
                     ResultSink& sink, AtEnd at_end);
  void run_portal(Portal& portal, std::uint64_t max_rows, ResultSink& sink,
                  AtEnd at_end = AtEnd::stay);
  /// What reads in parts keeps what it sees, since other statements run in between.
  enum class Reads : std::uint8_t { at_once, in_parts };
  void start_portal(Portal& portal, Reads reads = Reads::at_once);
  void finish_portal(Portal& portal);
  void count_run(const Portal& portal);
  /// Whether the client knows what the result's columns are, so that they must not change.
  enum class Columns : std::uint8_t { told, open };
  void lock_tables(Portal& portal, Columns columns);
  void run_at_once(Portal& portal, ResultSink& sink, AtEnd at_end = AtEnd::stay);
  std::uint64_t send_rows(Portal& portal, std::uint64_t max_rows, ResultSink& sink);
  void check_not_failed(const ast::Node* node);
  void drop_portals();

  /// Who the session acts as, after SET ROLE or a change of roles.
  void choose_user();

  // cursors.cpp
  void declare_cursor(const ast::DeclareCursorStmt& statement, ResultSink& sink,
                      std::span<const Value> parameters, Statement& whole);
  void fetch(const ast::FetchStmt& statement, ResultSink& sink);
  void close_cursor(const ast::ClosePortalStmt& statement, ResultSink& sink);
  bool read_cursor_row(Portal& portal);
  void make_cursor_of(Portal& portal);
  void hold_cursors();
  [[nodiscard]] std::vector<OutputColumn> fetch_columns(const ast::FetchStmt& statement,
                                                        std::span<const Format> formats);

  // listening.cpp
  void notify(std::string_view channel, std::string_view payload);
  /// LISTEN and UNLISTEN: they count from the commit on.
  void resolve_to_listen(const ast::Node& statement, ResultSink& sink);
  /// What the transaction has said, to whoever listens. It is durable.
  void deliver_notifications();
  void apply_listening();

  // constraint_timing.cpp
  void set_constraints(const ast::ConstraintsSetStmt& statement, ResultSink& sink);
  void run_deferred_checks(std::span<const Oid> constraints);
  void forget_deferred_checks() noexcept;

  // prepared.cpp
  StatementPtr prepared_by(const ast::ExecuteStmt& statement);
  /// With the values that EXECUTE gives it. 0A000 for a statement without a plan.
  PortalPtr portal_of(const ast::ExecuteStmt& statement);
  void set_variable(const ast::VariableSetStmt& statement, ResultSink& sink);
  void show_variable(const ast::VariableShowStmt& statement, ResultSink& sink);
  /// The one spelling of a value, for the settings that have many. Pre: `name` in lower case.
  std::string canonical_value(std::string_view name, std::string_view value);
  void apply_setting(std::string_view name, std::string_view value,
                     SessionSettings::Lifetime lifetime);
  /// After a setting may have changed: formats, search path, ParameterStatus.
  void settings_changed(ResultSink* sink);
  // stored_settings.cpp
  void change_stored_settings(std::vector<std::string>& list, const ast::VariableSetStmt& change);
  /// What SET … TO says, or nothing for DEFAULT and RESET.
  std::optional<std::string> stored_value(const ast::VariableSetStmt& change);
  void apply_stored_settings();
  void send_text_row(ResultSink& sink, std::string_view column, std::string_view value);

  void drop_relation(const TablePtr& table);
  void drop_owned_temporaries();

  void notice(ResultSink& sink, Severity severity, SqlState state, std::string message);
  /// Unless the session does not want to hear notices.
  void send_notice(ResultSink& sink, Diagnostic diagnostic);

  Database::Shared& shared;
  SessionOptions options;
  SessionSettings settings;
  SessionContext session_context;
  Catalogs::Use database_use;
  CatalogView catalog;
  SessionNames names{*this};
  SessionRights rights{*this};
  // Who the session is, by number: a role that is dropped and made anew, or renamed, is another's
  // or still the same. What such a role may do is looked up whenever it matters.
  Oid login = kNoOid;         ///< who logged in
  Oid session_user = kNoOid;  ///< that, or who SET SESSION AUTHORIZATION has named
  Oid user = kNoOid;          ///< that, or who SET ROLE has named
  /// Whose rights the running routine has; none: those of whoever the session is.
  Oid acting_user = kNoOid;
  /// Whom the names in the two settings meant when they were set.
  std::map<std::string, Oid> known_session_users;
  std::map<std::string, Oid> known_current_users;
  Session* owner = nullptr;
  /// Before everything that keeps rows, which gives its share back when it goes.
  WorkMemory memory;

  /// Replaced by set_transaction() alone, since cancel() looks at it from other threads.
  std::unique_ptr<Transaction> transaction;
  std::mutex transaction_mutex;
  Block block = Block::none;
  bool failed = false;
  bool read_only = false;
  bool deferrable = false;
  Isolation isolation = Isolation::read_committed;
  /// The client asked for READ UNCOMMITTED: shown as that, though it acts as READ COMMITTED.
  bool says_uncommitted = false;
  std::vector<Savepoint> savepoints;
  std::int64_t transaction_number = 0;  ///< of the present one, once txid_current() was asked
  bool any_statement = false;  ///< in this transaction: SET TRANSACTION comes too late then
  bool in_script = false;      ///< what runs is one of several statements of a message
  /// What runs may end the transaction: CALL or DO outside a block, and procedures that it calls.
  bool may_end_transaction = false;
  int guarded_blocks = 0;  ///< within how many blocks of routines, which take their errors back
  /// Of loops whose bodies may end the transaction, outermost first.
  std::vector<PinnedRows*> pinned_rows;
  /// Where the routines are that run, outermost first.
  std::vector<const CallPlace*> call_places;
  /// What the function of a trigger that runs may name; null: nothing.
  const TransitionTables* transition_tables = nullptr;
  DeferredChecks deferred;
  ConstraintModes constraint_modes;
  ReferenceQueue references;
  std::vector<Oid> truncated_on_commit;
  std::vector<Oid> dropped_on_commit;  ///< made in this transaction
  /// Built in this transaction, at REPEATABLE READ: its snapshot does not read them.
  std::set<Oid> young_indexes;
  PendingNotifications pending;
  /// From the first LISTEN on.
  std::unique_ptr<Notifications::Listener> listener;

  IdleRuns idle_runs;  ///< before who has plans
  std::unordered_map<std::string, StatementPtr, NameHash, std::equal_to<>> statements;
  std::map<std::string, PortalPtr, std::less<>> portals;
  std::uint64_t portals_opened = 0;
  PortalPtr spare_portal;
  /// Of Query messages, by their text; of Parse messages without a name, by text and given types.
  StatementCache text_cache{kTextsOfSession};
  StatementCache parsed_texts{kTextsOfSession};
  std::unordered_map<std::string, StatementPtr> internal_cache;
  /// By text with its literals lifted; a statement without a node marks a shape that does not work.
  StatementCache shapes{kTextsOfSession};
  std::uint64_t settings_version = 1;
  TransactionDefaults kept_defaults;
  /// Something was SET or RESET in this transaction, so its end may change settings again.
  bool settings_touched = false;
  std::uint64_t next_run = 1;

  std::string planned_under_cache;
  std::uint64_t planned_under_version = 0;
  CatalogView::Stamp planned_under_stamp;
  /// What the routines that were called last are made ready with (routines/language.h).
  std::shared_ptr<RoutineCodes> routine_codes;
  /// The same for functions of triggers (triggers/trigger_codes.h).
  std::shared_ptr<TriggerCodes> trigger_codes;
  std::int32_t trigger_depth = 0;  ///< how many run within one another
  /// Of settings that hold while a routine runs; no other version is so high.
  std::uint64_t next_inner_version = 1ULL << 63U;
  std::map<std::string, std::string> reported;

  // For currval() and lastval().
  std::map<Oid, std::int64_t> sequence_values;
  std::optional<Oid> last_sequence;
  /// What the transaction has given other positions, or dropped. One of the two is nobody's when it
  /// ends.
  struct SequenceMove {
    Oid to = kNoOid;
    Oid from = kNoOid;
  };
  std::vector<SequenceMove> sequence_moves;
  enum class Moves : std::uint8_t { stay, are_undone };
  /// Forgets the positions that the moves from the mark on leave behind.
  void end_sequence_moves(Moves outcome, std::size_t mark = 0) noexcept;

  Interruption interruption;
  std::string current_query;  ///< for what a deadlock is reported with
  Activity activity;
  /// What Bind asked for, while a statement without a plan of its own runs: EXECUTE, FETCH.
  std::optional<std::span<const Format>> bound_formats;
  bool advisory_locks_used = false;
  int executes_running = 0;  ///< EXECUTE of EXECUTE of …
  ResultSink* sink_for_notices = nullptr;
};

}  // namespace swizzle::sql
