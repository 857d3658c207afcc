#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execute/operator.h"
#include "sql-lite-frontend/execute/write.h"
#include "sql-lite-frontend/parse/parser.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/statistics/statement_counters.h"

namespace swizzle::sql {

/// A plan and what one run of it needs. Serves one portal at a time.
struct Plan {
  Plan(Session::State& session, SessionContext& context) : execution(session, context) {}

  Arena arena;  ///< constants
  PlanPtr root;
  WriteOperator* write = nullptr;  ///< when the statement is INSERT, UPDATE or DELETE
  std::vector<Slot> outputs;
  std::vector<TypeId> types;
  /// As the last run sent them.
  std::vector<OutputColumn> columns;
  std::vector<Format> column_formats;
  Execution execution;
  /// Tables the plan reads or writes, in the versions that it was made for.
  std::vector<TablePtr> tables;
  /// What the relations are locked with while it runs.
  struct Lock {
    lock::RelationId relation;
    lock::RelationMode mode;
  };
  std::vector<Lock> locks;
  /// What the statement's names meant when it was made.
  std::vector<Binder::NamedRelation> names;
  /// What it needs privileges for, and under which catalog they were found sufficient.
  std::vector<RelationAccess> accesses;
  CatalogView::Stamp allowed_under;
  CatalogView::Stamp stamp;
  std::uint64_t settings_version = 0;
  bool in_use = false;
  ExprPrinter::Columns explained_columns = ExprPrinter::Columns::names;
  bool single_use = false;
  /// Which way is best depends on the parameters' values, which were not known when it was made.
  bool guesses_parameters = false;
  /// It cannot be run: Bind says so, and the simple protocol before it describes the columns.
  std::optional<Diagnostic> failure;
  /// Computed before the run of a statement whose literals are parameters, for their errors.
  std::vector<ExprPtr> computed_from_literals;

  /// Constraints are looked at when the statement has written everything, in WITH queries too.
  void open() {
    execution.unchecked.clear();
    root->open(execution);
    check_written(execution);
  }

  void end_run() {
    root->close();
    execution.release_kept();
    in_use = false;
  }
};

/// A statement that has been parsed, with its plan once there is one: an entry of the prepared
/// statements and of the cache by text.
struct Statement {
  /// Where there are several: of all of them, which share it.
  std::shared_ptr<const std::string> script = std::make_shared<const std::string>();
  Arena parse_arena;
  const ast::Node* node = nullptr;  ///< null: an empty query
  std::int32_t location = 0;        ///< where it begins in the text, which may have others
  std::vector<TypeId> declared_types;
  std::vector<TypeId> parameter_types;
  std::vector<OutputTarget> columns;  ///< of the result; names and types only
  bool returns_rows = false;
  std::shared_ptr<Plan> plan;
  bool from_sql = false;   ///< PREPARE, not Parse
  bool trusted = false;    ///< the checks of foreign keys: nobody's privileges matter
  bool of_cursor = false;  ///< DECLARE's: WHERE CURRENT OF may name its rows
  /// Not so for the statements of a Query message: nobody gives them values.
  bool takes_parameters = true;
  bool has_lifted_literals = false;  ///< its parameters are what its text had in their places
  std::int64_t prepared_at = 0;
  /// Null before the first run, and for statements that are not counted.
  StatementCountersPtr counters;

  [[nodiscard]] const std::string& text() const noexcept { return *script; }
};
using StatementPtr = std::shared_ptr<Statement>;

/// Whether the statement is one that has a plan: SELECT, VALUES, INSERT, UPDATE, DELETE.
bool is_plannable(const ast::Node* node) noexcept;

/// Parses the text of `whole` once more, into the arena of `into`, which outlives the script, and
/// returns the same statement there.
const ast::Node* parse_again(Statement& into, const Statement& whole);

/// What EXPLAIN answers with.
OutputColumn explain_column(const ast::ExplainStmt& explain);

/// The query of EXPLAIN and DECLARE CURSOR, whose parameters are the statement's; else null.
const ast::Node* query_within(const ast::Node* node) noexcept;

/// "SELECT", "INSERT", "CREATE TABLE" …: what errors and tags call it.
std::string_view statement_name(const ast::Node* node) noexcept;

/// A statement that is being executed, or waits to be: the protocol's portal, and SQL's cursor.
struct Portal {
  std::string name;
  StatementPtr statement;
  std::shared_ptr<Plan> plan;
  Arena arena;  ///< the parameters' bytes
  std::vector<Value> parameters;
  std::vector<Format> formats;
  enum class State : std::uint8_t { ready, running, finished, failed };
  State state = State::ready;
  std::uint64_t rows_sent = 0;
  std::uint64_t number = 0;  ///< those that were opened later have higher ones
  std::int64_t opened_at = 0;
  TimePoint started_at{};
  /// What it sees, if it is read in parts.
  HeldView view;

  // Cursors.
  bool is_cursor = false;
  bool scrolls = true;
  bool holds = false;
  bool binary = false;
  std::int64_t position = 0;  ///< 0: before the first row
  bool exhausted = false;
  std::unique_ptr<RowStore> rows;  ///< what has been read

  /// As new, but with its memory.
  void reset() {
    name.clear();
    statement.reset();
    plan.reset();
    arena.reset();
    parameters.clear();
    formats.clear();
    view.reset();
    state = State::ready;
    rows_sent = 0;
    is_cursor = holds = binary = exhausted = false;
    scrolls = true;
    position = 0;
    rows.reset();
    opened_at = 0;
  }
};
using PortalPtr = std::shared_ptr<Portal>;

}  // namespace swizzle::sql
