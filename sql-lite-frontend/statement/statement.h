#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/statistics/statement_counters.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/statement/lasting_share.h"
#include "sql-lite-frontend/statement/rights/role_stamp.h"
#include "sql-lite-frontend/statement/tables_in_use.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// A text of at most one statement, and its syntax tree. Immutable.
struct ParsedText {
  std::shared_ptr<const std::string> script;
  Arena arena{kTreeBytes};
  const ast::Node* node = nullptr;  ///< null: an empty query
  std::int32_t location = 0;        ///< where it begins in the text
  MemoryShare text_share;

  /// Charges the text's memory to one session, if that is its only user.
  void count_in(MemoryAccount& account, std::size_t text_bytes) {
    arena.count_in(&account);
    text_share.set(&account, text_bytes);
  }

  static constexpr std::size_t kTreeBytes = 2048;
};
using ParsedTextPtr = CheckedShared<const ParsedText>;

/// Plan of a statement. Immutable once made: any number of runs share it.
struct Plan {
  static constexpr std::size_t kConstantsBytes = 1024;

  Arena arena{kConstantsBytes};  ///< constants
  MemoryShare nodes_share;       ///< of a long text, which one session plans for itself alone
  PlanPtr root;
  WriteOperator* write = nullptr;  ///< when the statement is INSERT, UPDATE or DELETE
  Slot slot_count = 0;
  std::vector<Slot> outputs;
  std::vector<TypeId> types;
  std::vector<OutputTarget> columns;  ///< of the result; names and types only
  bool returns_rows = false;
  std::vector<TypeId> parameter_types;
  /// Tables the plan reads or writes, in the versions that it was made for.
  std::vector<TablePtr> tables;
  /// Lock of a relation while the plan runs.
  struct Lock {
    lock::RelationId relation;
    lock::RelationMode mode;
  };
  std::vector<Lock> locks;
  /// Meanings of the statement's names when the plan was made.
  std::vector<Binder::NamedRelation> names;
  /// True for a statement of the server's own, which may name any object regardless of the user's
  /// rights.
  bool trusts_names = false;
  /// Routines that the plan calls, in the versions that it was made for, and those for which
  /// EXECUTE is required.
  std::vector<RoutinePtr> routines;
  std::vector<RoutinePtr> executes;
  /// Uses of relations that need privileges: each session checks its own.
  std::vector<RelationAccess> accesses;
  ExprPrinter::Columns explained_columns = ExprPrinter::Columns::names;
  bool single_use = false;
  /// True if it accesses a table with row security on: the plan is for one role, under the present
  /// definitions.
  bool met_policies = false;
  bool looked_up_objects = false;  ///< it has objects' numbers, or calls routines, found by name
  bool names_user_types = false;   ///< under the names they had when it was made, or their defaults
  /// True if the best plan depends on the parameters' values, which were not known.
  bool guesses_parameters = false;
  /// Error of a plan that cannot be run: Bind reports it, and the simple protocol before it
  /// describes the columns.
  std::optional<Diagnostic> failure;
  /// Computed before the run of a statement whose literals are parameters, for their errors.
  std::vector<ExprPtr> computed_from_literals;
};

/// One portal's run of a plan: copies of its steps, and the state that they work with. Used again
/// for the next run, one at a time, so that a warm run allocates nothing.
struct PlanRun {
  PlanRun(StatementServices& services, std::shared_ptr<const Plan> of);
  /// Runs the plan's own steps, which may be measured, because no other run shares them.
  PlanRun(StatementServices& services, const std::shared_ptr<Plan>& own);
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;
  ~PlanRun() = default;

  std::shared_ptr<const Plan> plan;  ///< first, since the steps refer to it
  Execution execution;
  PlanPtr copy;
  PlanOperator* root;
  WriteOperator* write;
  /// Columns as the last run sent them.
  std::vector<OutputColumn> columns;
  std::vector<Format> column_formats;

  /// Constraints are checked when the statement has written everything, in WITH queries too.
  void open() {
    execution.unchecked.clear();
    root->open(execution);
    check_written(execution);
  }

  void end() {
    root->close();
    execution.release_kept();
    in_use_ = {};
  }

  /// Marks its tables as in use, from its beginning to its end.
  void use_tables(TablesInUse& in_use) { in_use_ = {in_use, plan->tables}; }

 private:
  TablesInUse::Entry in_use_;
};

class IdleRuns;

/// A plan as used by one session: the session's knowledge of it, and perhaps an idle run for the
/// next use.
struct PlanUse {
  PlanUse() = default;
  PlanUse(const PlanUse&) = delete;
  PlanUse& operator=(const PlanUse&) = delete;
  ~PlanUse();

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Plan> own;  ///< the same, if not shared: EXPLAIN's
  /// Conditions under which the plan was valid, and its privileges were found sufficient.
  RoleStamp stamp;
  std::uint64_t settings_version = 0;
  RoleStamp allowed_under;

  std::unique_ptr<PlanRun> idle;
  IdleRuns* keeper = nullptr;  ///< of `idle`
  std::size_t place = 0;       ///< there
  bool was_used = false;       ///< since the last eviction scan (second chance)
};
using PlanUsePtr = CheckedShared<PlanUse>;

/// Plans of a session with an idle run for their next use: the last ones that ran, so that memory
/// is bounded however many statements a session has.
class IdleRuns {
 public:
  static constexpr std::size_t kRuns = 32;

  /// Returns null if there is none.
  static std::unique_ptr<PlanRun> take(PlanUse& use) noexcept { return std::move(use.idle); }
  void put(PlanUse& use, std::unique_ptr<PlanRun> run);
  void forget(const PlanUse& use) noexcept { places_[use.place] = nullptr; }

 private:
  std::vector<PlanUse*> places_;  ///< null: free
  std::size_t hand_ = 0;
};

/// Steps that write rows, or compute values, outside a statement: bound once and run once.
struct Scratch {
  Scratch(StatementServices& services, SessionContext& context) : execution(services, context) {}

  Arena arena;  ///< constants
  PlanPtr root;
  WriteOperator* write = nullptr;
  Execution execution;
};

/// A statement that has been parsed, with its plan once there is one: an entry of the prepared
/// statements and of the cache by text.
struct Statement {
  /// Text of the script; if it has several statements, they share it.
  std::shared_ptr<const std::string> script = std::make_shared<const std::string>();
  ParsedTextPtr parsed;             ///< keeps `node`; null: it is kept elsewhere
  const ast::Node* node = nullptr;  ///< null: an empty query
  std::int32_t location = 0;        ///< where it begins in the text, which may have others
  std::int32_t length = 0;          ///< of its part of the text; 0: to the end
  std::vector<TypeId> declared_types;
  std::vector<TypeId> parameter_types;
  /// Columns of the result; null: not known.
  std::shared_ptr<const std::vector<OutputTarget>> result;
  bool returns_rows = false;
  PlanUsePtr plan;
  bool from_sql = false;      ///< PREPARE, not Parse
  bool trusted = false;       ///< a check of a foreign key, without checks of privileges
  bool is_explained = false;  ///< EXPLAIN's: its plan is not shared
  bool of_cursor = false;     ///< DECLARE's: WHERE CURRENT OF may name its rows
  /// False for the statements of a Query message, which have no parameters.
  bool takes_parameters = true;
  BodyNamesPtr body;                 ///< of a routine that it stands in
  bool has_lifted_literals = false;  ///< its parameters are the literals of its text
  bool repeats_row = false;          ///< INSERT: its parameters are those of any number of rows
  std::int64_t prepared_at = 0;
  /// Null before the first run, and for statements that are not counted.
  StatementCountersPtr counters;
  /// Memory of a statement that the session keeps by a name: text, tree and plan, even if shared.
  LastingShare kept_share;

  /// Throws SqlError 53200.
  void count_as_kept(MemoryAccount& account, std::size_t name_bytes = 0);

  /// Takes the description of the result from the plan.
  void take_result(const std::shared_ptr<const Plan>& of) {
    result = {of, &of->columns};
    returns_rows = of->returns_rows;
    parameter_types = of->parameter_types;
  }
  [[nodiscard]] const std::string& text() const noexcept { return *script; }
  [[nodiscard]] const std::vector<OutputTarget>& columns() const noexcept {
    static const std::vector<OutputTarget> kNone;
    return result ? *result : kNone;
  }
};
using StatementPtr = CheckedShared<Statement>;

/// False if it writes only temporary tables, which a read-only transaction may do.
bool writes_what_others_see(const Plan& plan);

/// True if the plan's columns are those that the client was told of.
bool has_same_result(const Statement& statement, const Plan& plan) noexcept;

/// True for statements that have a plan: SELECT, VALUES, INSERT, UPDATE, DELETE.
bool is_plannable(const ast::Node* node) noexcept;

/// Parses the statement's own part of its script once more, into an arena of `into`, which outlives
/// the script and is charged to the account. Returns the same statement there; its positions are
/// relative to its own part, which is the text of `into`.
const ast::Node* parse_again(MemoryAccount& account, Statement& into, const Statement& whole);

/// Runs `body`, which binds a tree of parse_again(). Moves the position of its error to the whole
/// script.
template <class Body>
void with_places_in(const Statement& whole, const Body& body) {
  try {
    body();
  } catch (SqlError& error) {
    if (error.fields().position > 0) error.fields().position += whole.location;
    throw;
  }
}

/// Returns the column of EXPLAIN's result.
OutputColumn explain_column(const ast::ExplainStmt& explain);

/// Returns the query of EXPLAIN and DECLARE CURSOR, whose parameters are the statement's; else
/// null.
const ast::Node* query_within(const ast::Node* node) noexcept;

/// Returns the statement's name in errors and tags: "SELECT", "INSERT", "CREATE TABLE" ….
std::string_view statement_name(const ast::Node* node);

/// A statement that runs or waits to run: the protocol's portal, and SQL's cursor.
struct Portal {
  std::string name;
  StatementPtr statement;
  PlanUsePtr use;                ///< null: the statement has no plan
  std::unique_ptr<PlanRun> run;  ///< from when it starts; cursors keep it to their end
  Arena arena;                   ///< the parameters' bytes
  std::vector<Value> parameters;
  std::vector<Format> formats;
  LastingShare kept_share;  ///< of a portal with a name, which may be one of many
  enum class State : std::uint8_t { ready, running, finished, failed };
  State state = State::ready;
  std::uint64_t rows_sent = 0;
  std::uint64_t rows_written = 0;
  std::uint64_t number = 0;  ///< those that were opened later have higher ones
  std::int64_t opened_at = 0;
  TimePoint started_at{};
  /// Snapshot of the portal, if it is read in parts.
  HeldView view;

  // Cursors.
  bool is_cursor = false;
  bool scrolls = true;
  bool holds = false;
  bool binary = false;
  /// True if a loop reads it: the end of the transaction keeps its rows.
  bool pinned = false;
  std::int64_t position = 0;  ///< 0: before the first row
  bool exhausted = false;
  std::unique_ptr<RowStore> rows;  ///< the rows read so far

  [[nodiscard]] const Plan& plan() const noexcept { return *use->plan; }

  static constexpr std::size_t kKeptParameters = 1024;
  static constexpr std::size_t kKeptNameBytes = 63;

  /// Charges the session for a portal of a client, so that many are bounded. Throws 53200.
  void count_as_kept(MemoryAccount& account, std::size_t name_bytes, std::size_t values,
                     std::size_t columns);
  /// Restores the initial state, but keeps the memory.
  void reset() {
    if (!name.empty()) {
      name.clear();
      if (name.capacity() > kKeptNameBytes) name.shrink_to_fit();
      kept_share.lower(0);
    }
    run.reset();
    use.reset();
    statement.reset();
    arena.reset();
    parameters.clear();
    if (parameters.capacity() > kKeptParameters) parameters.shrink_to_fit();
    formats.clear();
    view.reset();
    state = State::ready;
    rows_sent = rows_written = 0;
    is_cursor = holds = binary = pinned = exhausted = false;
    scrolls = true;
    position = 0;
    rows.reset();
    opened_at = 0;
  }
};
using PortalPtr = CheckedShared<Portal>;

/// Throws the error of the plan's constants, if they have one.
void require_runnable(const Plan& plan);
/// Refuses a statement with more parameters than values: a part of another statement, or a text
/// that a routine runs, may have none.
void require_parameters(const Portal& portal);
/// Refuses a statement that writes in a routine that is not volatile.
void require_allowed(const Statement& statement, const Plan& plan, bool may_write);

}  // namespace swizzle::sql
