#include <fmt/format.h>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/execution/steps/instrumented.h"
#include "sql-lite-frontend/execution/steps/subplans.h"
#include "sql-lite-frontend/plan/plan_writer.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

struct ExplainOptions {
  bool analyze = false;
  bool verbose = false;
  bool costs = true;
  bool buffers = false;
  bool summary = false;
  bool timing = true;
  enum class Format : std::uint8_t { text, json } format = Format::text;
};

ExplainOptions::Format read_format(const ast::DefElem& option) {
  if (option.arg == nullptr) {
    throw SqlError{sqlstate::syntax_error, "format requires a parameter"};
  }
  std::string_view text;
  if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
  if (text == "text") return ExplainOptions::Format::text;
  if (text == "json") return ExplainOptions::Format::json;
  if (text == "xml" || text == "yaml") {
    throw_error(sqlstate::feature_not_supported, "EXPLAIN (FORMAT {}) is not supported", text);
  }
  throw sql_error(sqlstate::invalid_parameter_value,
                  "unrecognized value for EXPLAIN option \"format\": \"{}\"", text)
      .at_position(option.location + 1);
}

/// Returns true if SERIALIZE asks for the rows' conversion to be measured.
bool serializes(const ast::DefElem& option) {
  if (option.arg == nullptr) return true;
  std::string text;
  if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
  if (const auto* number = ast::try_as<ast::Integer>(option.arg)) {
    text = std::to_string(number->ival);
  }
  if (text == "none" || text == "off") return false;
  if (text == "text" || text == "binary") return true;
  throw sql_error(sqlstate::invalid_parameter_value,
                  "unrecognized value for EXPLAIN option \"serialize\": \"{}\"", text)
      .at_position(option.location + 1);
}

[[noreturn]] void refuse_explain_option(std::string_view name) {
  throw_error(sqlstate::feature_not_supported, "EXPLAIN option \"{}\" is not supported", name);
}

ExplainOptions read_options(ast::NodeList list) {
  ExplainOptions options;
  std::optional<bool> summary;
  std::optional<bool> timing;
  bool wal = false;
  bool settings = false;
  bool serialize = false;
  bool generic_plan = false;
  bool memory = false;
  for (const ast::Node* node : list) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "format") {
      options.format = read_format(option);
    } else if (option.defname == "analyze") {
      options.analyze = option_flag(option);
    } else if (option.defname == "verbose") {
      options.verbose = option_flag(option);
    } else if (option.defname == "costs") {
      options.costs = option_flag(option);
    } else if (option.defname == "buffers") {
      options.buffers = option_flag(option);
    } else if (option.defname == "summary") {
      summary = option_flag(option);
    } else if (option.defname == "timing") {
      timing = option_flag(option);
    } else if (option.defname == "wal") {
      wal = option_flag(option);
    } else if (option.defname == "settings") {
      settings = option_flag(option);
    } else if (option.defname == "serialize") {
      serialize = serializes(option);
    } else if (option.defname == "generic_plan") {
      generic_plan = option_flag(option);
    } else if (option.defname == "memory") {
      memory = option_flag(option);
    } else {
      refuse_option("EXPLAIN", option);
    }
  }
  if (wal && !options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value, "EXPLAIN option WAL requires ANALYZE"};
  }
  if (timing.value_or(false) && !options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value, "EXPLAIN option TIMING requires ANALYZE"};
  }
  if (serialize && !options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value, "EXPLAIN option SERIALIZE requires ANALYZE"};
  }
  if (generic_plan && options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "EXPLAIN options ANALYZE and GENERIC_PLAN cannot be used together"};
  }
  if (wal) refuse_explain_option("wal");
  if (settings) refuse_explain_option("settings");
  if (serialize) refuse_explain_option("serialize");
  if (generic_plan) refuse_explain_option("generic_plan");
  if (memory) refuse_explain_option("memory");
  options.timing = timing.value_or(true);
  options.summary = summary.value_or(options.analyze);
  return options;
}

double milliseconds_since(TimePoint start) {
  return std::chrono::duration<double, std::milli>(Runtime::current().now() - start).count();
}

std::string output_of(const Statement& statement) {
  std::string out;
  for (const OutputTarget& column : statement.columns()) {
    if (!out.empty()) out += ", ";
    const auto& origin = column.origin;
    if (!origin.qualifier.empty()) out += quote_identifier(origin.qualifier) + ".";
    out += origin.name.empty() ? column.name : quote_identifier(origin.name);
  }
  return out;
}

/// Runs the plan to its end, and throws its rows away.
void run_to_end(Session::State& session, Portal& portal) {
  session.portals.start(portal);
  PlanRun& run = *portal.run;
  try {
    RowScope scope{run.execution};
    while (run.root->next(run.execution)) scope.rewind();
  } catch (...) {
    run.end();
    throw;
  }
}

}  // namespace

OutputColumn explain_column(const ast::ExplainStmt& explain) {
  const bool as_json = read_options(explain.options).format == ExplainOptions::Format::json;
  return {"QUERY PLAN", 0, 0, raw(as_json ? TypeId::json : TypeId::text), -1, -1, Format::text};
}

void explain_statement(Session::State& session, const ast::ExplainStmt& explain, Statement& whole,
                       std::span<const Value> parameters, ResultSink& sink) {
  const ExplainOptions wanted = read_options(explain.options);
  const ast::Node* query = query_within(&explain);
  auto statement = std::make_shared<Statement>();
  statement->declared_types = whole.parameter_types;
  statement->body = whole.body;
  statement->takes_parameters = whole.takes_parameters;
  // Makes a plan of its own even for a prepared statement, since it may be measured.
  PortalPtr prepared;
  if (const auto* execute = ast::try_as<ast::ExecuteStmt>(query)) {
    prepared = session.portal_of(*execute);
    query = prepared->statement->node;
    statement->declared_types = prepared->statement->parameter_types;
    statement->takes_parameters = true;
    parameters = prepared->parameters;
  }
  if (!is_plannable(query)) {
    throw_error(sqlstate::feature_not_supported, "EXPLAIN of {} is not supported",
                statement_name(query));
  }
  statement->node = query;
  statement->is_explained = true;
  const TimePoint planning = Runtime::current().now();
  const PortalPtr portal = session.portals.make(statement, parameters);
  const double planning_ms = milliseconds_since(planning);
  double execution_ms = 0;
  // EXPLAIN without ANALYZE needs the rights to run the plan as well. Locks come first: a plan that
  // was overtaken is made anew, without the steps that measure it.
  session.portals.lock_tables(*portal, SessionPortals::Columns::open);
  const auto root = [&]() -> PlanPtr& { return portal->use->own->root; };
  if (wanted.analyze) {
    Instrumented::put_over(root(),
                           wanted.timing ? Instrumented::Clock::on : Instrumented::Clock::off);
    const TimePoint start = Runtime::current().now();
    run_to_end(session, *portal);
    execution_ms = milliseconds_since(start);
  }
  note_subplans(*root());
  PlanDetails details{.costs = wanted.costs,
                      .timing = wanted.timing,
                      .buffers = wanted.buffers && wanted.analyze,
                      .columns = portal->plan().explained_columns,
                      .output = {}};
  if (wanted.verbose) details.output = output_of(*statement);
  std::vector<std::string> rows;
  if (wanted.format == ExplainOptions::Format::text) {
    rows = plan_as_text(*root(), details);
    if (wanted.summary) rows.push_back(fmt::format("Planning Time: {:.3f} ms", planning_ms));
    if (wanted.summary && wanted.analyze) {
      rows.push_back(fmt::format("Execution Time: {:.3f} ms", execution_ms));
    }
  } else {
    Arena arena;
    TextBuilder text{arena};
    text += "[\n  {\n    \"Plan\": ";
    write_plan_as_json(*root(), details, 2, text);
    if (wanted.summary) text += fmt::format(",\n    \"Planning Time\": {:.3f}", planning_ms);
    if (wanted.analyze) text += ",\n    \"Triggers\": [\n    ]";
    if (wanted.summary && wanted.analyze) {
      text += fmt::format(",\n    \"Execution Time\": {:.3f}", execution_ms);
    }
    text += "\n  }\n]";
    rows.emplace_back(text.finish().as_text());
  }
  session.portals.finish(*portal);
  const OutputColumn column = explain_column(explain);
  sink.row_description({&column, 1});
  for (const std::string& row : rows) {
    const std::optional<std::string> values[] = {row};
    sink.data_row(TextRow{values});
  }
}

}  // namespace swizzle::sql
