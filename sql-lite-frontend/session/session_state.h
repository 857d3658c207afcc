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

#include "sql-lite-frontend/execute/foreign_keys.h"
#include "sql-lite-frontend/session/activity.h"
#include "sql-lite-frontend/session/database_shared.h"
#include "sql-lite-frontend/session/deferred_checks.h"
#include "sql-lite-frontend/session/internal.h"
#include "sql-lite-frontend/session/interruption.h"
#include "sql-lite-frontend/session/statement.h"
#include "sql-lite-frontend/session/statement_cache.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Lets a map with names be asked for a view of one.
struct NamedRelation;
class DomainRules;
class RoutineCodes;
class TriggerCodes;
class PinnedRows;
class CallPlace;
struct TransitionTables;

/// One session from the inside. Its functions lie in files by concern: transactions.cpp,
/// prepare.cpp (parsing, binding, planning), run.cpp (portals), utility.cpp (statements without a
/// plan), names.cpp (looking things up), cursors.cpp, copy*.cpp and ddl/.
struct Session::State final : NameSource, ObjectNames {
  State(Database::Shared& shared_database, SessionOptions session_options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() override;

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
  void run_utility(const ast::Node* node, Statement& statement, std::span<const Value> parameters,
                   ResultSink& sink);
  void check_not_failed(const ast::Node* node);
  void drop_portals();

  // privileges.cpp --------------------------------------------------------------------------------
  /// The role and all whose rights it has, PUBLIC among them.
  [[nodiscard]] std::vector<Oid> roles_of(Oid role) const;
  /// Whether `role` is `group` or a member of it, directly or not.
  [[nodiscard]] bool is_member(Oid role, Oid group) const;
  /// May it make others members of the group: a superuser, or a holder of the ADMIN OPTION.
  [[nodiscard]] bool is_admin_of(Oid role, Oid group) const;
  [[nodiscard]] bool is_superuser(Oid role) const;
  /// Whether the current role is that owner, or has its rights.
  [[nodiscard]] bool owns(Oid role) const;
  [[nodiscard]] bool may(const Schema& schema, Privileges wants) const;
  [[nodiscard]] bool may(Oid role, const Schema& schema, Privileges wants) const;
  [[nodiscard]] bool may(const DatabaseEntry& database, Privileges wants) const;
  [[nodiscard]] bool may(const Routine& routine, Privileges wants) const;
  /// USAGE.
  [[nodiscard]] bool may_use(const UserType& type) const;
  void require_execute(const Routine& routine) const;
  /// For information_schema: whether the role owns the relation or has any right to it, or to one
  /// of its columns; to this one.
  [[nodiscard]] bool may_see(const Relation& relation) const;
  [[nodiscard]] bool may_see(const Relation& relation, const Column& column) const;
  /// Whether the role is shown the setting: where the server keeps its files is not for everybody.
  [[nodiscard]] bool may_examine(std::string_view setting) const;
  /// What a plan is about to touch may be touched; throws 42501, or 55000 for a materialized view
  /// without rows.
  void check_accesses(PlanUse& use);
  void require_populated(const Table& table) const;
  // Each throws 42501.
  void require(const RelationAccess& access) const;
  void require(const TablePtr& table, Privileges wants) const;
  void require(const Schema& schema, Privileges wants) const;
  void require_owner(const Table& table) const;
  void require_owner(const Schema& schema) const;
  void require_owner(const DatabaseEntry& database) const;
  void require_lock(const TablePtr& table, lock::RelationMode mode) const;
  void require_connect() const;
  void require_create_on_database() const;
  /// For the session's first temporary relation.
  void require_temporary() const;
  /// Gives something to a role that the current one is no member of.
  void require_membership_in(const Role& new_owner) const;
  void require_role_right(bool Role::* right, std::string_view what) const;
  /// The relation, locked for a change that only its owner may make.
  TablePtr lock_own(const TablePtr& table,
                    lock::RelationMode mode = lock::RelationMode::access_exclusive);
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

  // copy.cpp
  void copy(const ast::CopyStmt& statement, ResultSink& sink);

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

  // lock_table.cpp
  void lock_table(const ast::LockStmt& statement, ResultSink& sink);

  // utility.cpp
  void prepare_statement(const ast::PrepareStmt& statement, const Statement& whole,
                         ResultSink& sink);
  StatementPtr prepared_by(const ast::ExecuteStmt& statement);
  /// With the values that EXECUTE gives it. 0A000 for a statement without a plan.
  PortalPtr portal_of(const ast::ExecuteStmt& statement);
  void execute_utility(Statement& prepared, ResultSink& sink);
  void execute_statement(const ast::ExecuteStmt& statement, ResultSink& sink);
  void explain(const ast::ExplainStmt& statement, Statement& whole,
               std::span<const Value> parameters, ResultSink& sink);
  void set_variable(const ast::VariableSetStmt& statement, ResultSink& sink);
  void show_variable(const ast::VariableShowStmt& statement, ResultSink& sink);
  void discard(const ast::DiscardStmt& statement, ResultSink& sink);
  /// The one spelling of a value, for the settings that have many. Pre: `name` in lower case.
  std::string canonical_value(std::string_view name, std::string_view value);
  void apply_setting(std::string_view name, std::string_view value,
                     SessionSettings::Lifetime lifetime);
  /// After a setting may have changed: formats, search path, ParameterStatus.
  void settings_changed(ResultSink* sink);
  // stored_settings.cpp
  void alter_role_settings(const ast::AlterRoleSetStmt& statement, ResultSink& sink);
  void alter_database_settings(const ast::AlterDatabaseSetStmt& statement, ResultSink& sink);
  void alter_system(const ast::AlterSystemStmt& statement, ResultSink& sink);
  void change_stored_settings(std::vector<std::string>& list, const ast::VariableSetStmt& change);
  /// What SET … TO says, or nothing for DEFAULT and RESET.
  std::optional<std::string> stored_value(const ast::VariableSetStmt& change);
  void apply_stored_settings();
  void send_text_row(ResultSink& sink, std::string_view column, std::string_view value);

  // ddl/
  void create_table(const ast::CreateStmt& statement, ResultSink& sink);
  void create_table_as(const ast::CreateTableAsStmt& statement, ResultSink& sink,
                       const Statement& whole);
  void create_index(const ast::IndexStmt& statement, ResultSink& sink);
  void create_view(const ast::ViewStmt& statement, const Statement& whole, ResultSink& sink);
  void create_sequence(const ast::CreateSeqStmt& statement, ResultSink& sink);
  void alter_sequence(const ast::AlterSeqStmt& statement, ResultSink& sink);
  void create_schema(const ast::CreateSchemaStmt& statement, ResultSink& sink);
  void drop(const ast::DropStmt& statement, ResultSink& sink);
  void truncate(const ast::TruncateStmt& statement, ResultSink& sink);
  void refresh(const ast::RefreshMatViewStmt& statement, ResultSink& sink);
  void refresh_concurrently(const TablePtr& found);
  void fill_from_query(const TablePtr& view, const TablePtr& into);
  /// Gives it new trees without rows.
  TablePtr empty_relation(const TablePtr& table);
  void alter_table(const ast::AlterTableStmt& statement, ResultSink& sink);
  void rename(const ast::RenameStmt& statement, ResultSink& sink);
  void rename_index(const NamedRelation& named, const std::string& new_name);
  void set_schema(const ast::AlterObjectSchemaStmt& statement, ResultSink& sink);
  void set_owner(const ast::AlterOwnerStmt& statement, ResultSink& sink);
  void comment(const ast::CommentStmt& statement, ResultSink& sink);
  void create_database(const ast::CreatedbStmt& statement, ResultSink& sink);
  void drop_database(const ast::DropdbStmt& statement, ResultSink& sink);
  void alter_database(const ast::AlterDatabaseStmt& statement, ResultSink& sink);
  void rename_database(std::string_view name, const std::string& new_name);
  void own_database(std::string_view name, const Role& new_owner);
  [[nodiscard]] DatabasePtr database_named(std::string_view name) const;
  void grant(const ast::GrantStmt& statement, ResultSink& sink);
  void grant_role(const ast::GrantRoleStmt& statement, ResultSink& sink);
  void vacuum(const ast::VacuumStmt& statement, ResultSink& sink);
  RolePtr role_of(const ast::RoleSpec& spec);
  /// 42501 unless one may add members to the group, or take them out of it: as `grantor`.
  void require_right_on_members(const Role& group, Oid grantor) const;
  enum class MembershipStep : std::uint8_t { give, give_with_admin, take_admin, take };
  struct MembershipChange {
    Oid group;
    Oid member;
    MembershipStep step;
    Oid grantor;
  };
  /// Every way to make somebody a member of a role, or not to be one any longer.
  void change_membership(const MembershipChange& change, ResultSink& sink);
  void require_right_on_roles() const;
  void create_role(const ast::CreateRoleStmt& statement, ResultSink& sink);
  void alter_role(const ast::AlterRoleStmt& statement, ResultSink& sink);
  void drop_role(const ast::DropRoleStmt& statement, ResultSink& sink);
  void drop_relation(const TablePtr& table);
  void drop_relations(const ast::DropStmt& statement, RelationKind wanted, ResultSink& sink);
  void drop_index(const ast::DropStmt& statement, ResultSink& sink);
  void drop_schema(const ast::DropStmt& statement, ResultSink& sink);
  void drop_unknown(const ast::DropStmt& statement, ResultSink& sink);
  void drop_owned_temporaries();

  // names.cpp: NameSource and ObjectNames
  // -----------------------------------------------------------
  TablePtr find_table(std::string_view schema, std::string_view name) override;
  TablePtr table(Oid oid) override;
  bool expands(const Table& table) override {
    return table.relation.kind == RelationKind::view || table.relation.oid == expanded_view;
  }
  bool refreshes(const Table& table) override { return table.relation.oid == refreshed_view; }
  std::vector<TablePtr> referencing_tables(Oid referenced) override;
  TypePtr find_user_type(std::string_view schema, std::string_view name) override;
  TypePtr user_type(TypeId type) override;
  const EnumLabels* enum_labels(TypeId type) override;
  void check_domain(TypeId domain, const Value& value) override;
  std::shared_ptr<const RowShape> row_shape(TypeId type) override;
  // routine_names.cpp
  std::vector<FoundRoutine> find_routines(std::string_view schema, std::string_view name) override;
  CallablePtr routine(Oid oid) override;
  std::optional<std::string> routine_name(std::uint32_t oid) override;
  CallablePtr callable_of(const RoutinePtr& routine);
  bool is_visible(const Routine& routine);
  /// "f(integer, text)", with its schema where the search path would not find it.
  std::string routine_signature(const Routine& routine);
  std::string schema_name(Oid schema) override;
  bool schema_exists(std::string_view schema) override;
  SessionContext& context() override { return session_context; }
  const SessionFunction* session_function(std::string_view name, std::size_t arguments) override;
  const SessionFunction& identity_numbers() override;
  std::string current_database() override { return options.database; }
  StatisticsPtr statistics(const Table& table) override;
  bool planner_allows(std::string_view setting) override { return settings.boolean(setting); }
  void warn(SqlState state, std::string message) override {
    if (sink_for_notices == nullptr) return;
    notice(*sink_for_notices, Severity::warning, state, std::move(message));
  }
  bool may_read(const IndexAccess& index) override {
    if (!index.tree || !transaction) return true;
    return !young_indexes.contains(index.index->oid) && index.tree->is_visible(*transaction);
  }
  std::optional<std::uint32_t> find(TypeId kind, std::string_view name) override;
  std::optional<std::string> name_of(TypeId kind, std::uint32_t oid) override;
  /// Existing schemas of the search path, pg_temp and pg_catalog in front where they belong.
  const std::vector<Oid>& search_path();
  /// 3F000 when there is none of that name; pg_temp is the session's own.
  Oid schema_named(std::string_view name);
  /// Where unqualified new objects go. 3F000 when the path has no existing schema.
  Oid creation_schema(const ast::RangeVar& range);
  Oid temporary_schema();
  bool is_visible(const Table& table);
  // type_names.cpp
  bool is_visible(const UserType& type);
  /// As regtype shows it, also of an array; nothing where no user made it.
  std::optional<std::string> user_type_name(TypeId type);
  std::optional<TypeId> find_user_type_written(std::string_view text);
  std::string qualified_name(const Table& table);

  void notice(ResultSink& sink, Severity severity, SqlState state, std::string message);
  /// Unless the session does not want to hear notices.
  void send_notice(ResultSink& sink, Diagnostic diagnostic);

  Database::Shared& shared;
  SessionOptions options;
  SessionSettings settings;
  SessionContext session_context;
  Catalogs::Use database_use;
  CatalogView catalog;
  // Who the session is, by number: a role that is dropped and made anew, or renamed, is another's
  // or still the same. What such a role may do is looked up whenever it matters.
  Oid login = kNoOid;         ///< who logged in
  Oid session_user = kNoOid;  ///< that, or who SET SESSION AUTHORIZATION has named
  Oid user = kNoOid;          ///< that, or who SET ROLE has named
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
  /// A materialized view whose query, not its rows, is meant: while it is refreshed.
  Oid expanded_view = kNoOid;
  /// One that this session writes: while it is refreshed concurrently.
  Oid refreshed_view = kNoOid;
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
  std::vector<Oid> search_path_cache;
  std::uint64_t search_path_version = 0;
  CatalogView::Stamp search_path_stamp;
  /// Those that have been called or looked for, in the version that was found last.
  std::unordered_map<Oid, CallablePtr> callables;
  /// What the routines that were called last are made ready with (routines/language.h).
  std::shared_ptr<RoutineCodes> routine_codes;
  /// The same for functions of triggers (triggers/trigger_codes.h).
  std::shared_ptr<TriggerCodes> trigger_codes;
  std::int32_t trigger_depth = 0;  ///< how many run within one another
  /// Of settings that hold while a routine runs; no other version is so high.
  std::uint64_t next_inner_version = 1ULL << 63U;
  /// Of the enums whose values this session has read or written, as of this stamp.
  std::vector<std::pair<TypeId, std::unique_ptr<EnumLabels>>> known_labels;
  CatalogView::Stamp label_stamp;
  /// The same for the domains that it has given values (session/domains.h).
  std::unordered_map<TypeId, std::shared_ptr<DomainRules>> known_domains;
  CatalogView::Stamp domain_stamp;
  /// And for composite types.
  std::unordered_map<TypeId, std::shared_ptr<const RowShape>> known_shapes;
  CatalogView::Stamp shape_stamp;
  Oid temp_schema = kNoOid;
  /// While a statement of our own is bound, which may name what the user may not.
  bool trusts_names = false;
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
