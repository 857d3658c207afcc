#include <fmt/format.h>

#include <algorithm>

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
  bool generic_plan = false;
  /// The format that rows are converted to while they are measured.
  std::optional<Format> serialize;
  bool settings = false;
  enum class Layout : std::uint8_t { text, json, xml, yaml } layout = Layout::text;
};

ExplainOptions::Layout read_layout(const ast::DefElem& option) {
  if (option.arg == nullptr) {
    throw SqlError{sqlstate::syntax_error, "format requires a parameter"};
  }
  std::string_view text;
  if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
  if (text == "text") return ExplainOptions::Layout::text;
  if (text == "json") return ExplainOptions::Layout::json;
  if (text == "xml") return ExplainOptions::Layout::xml;
  if (text == "yaml") return ExplainOptions::Layout::yaml;
  throw sql_error(sqlstate::invalid_parameter_value,
                  "unrecognized value for EXPLAIN option \"format\": \"{}\"", text)
      .at_position(option.location + 1);
}

std::optional<Format> read_serialize(const ast::DefElem& option) {
  if (option.arg == nullptr) return Format::text;
  std::string text;
  if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
  if (const auto* number = ast::try_as<ast::Integer>(option.arg)) {
    text = std::to_string(number->ival);
  }
  if (text == "none" || text == "off") return {};
  if (text == "text") return Format::text;
  if (text == "binary") return Format::binary;
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
  std::optional<bool> buffers;
  bool wal = false;
  bool memory = false;
  for (const ast::Node* node : list) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "format") {
      options.layout = read_layout(option);
    } else if (option.defname == "analyze") {
      options.analyze = option_flag(option);
    } else if (option.defname == "verbose") {
      options.verbose = option_flag(option);
    } else if (option.defname == "costs") {
      options.costs = option_flag(option);
    } else if (option.defname == "buffers") {
      buffers = option_flag(option);
    } else if (option.defname == "summary") {
      summary = option_flag(option);
    } else if (option.defname == "timing") {
      timing = option_flag(option);
    } else if (option.defname == "wal") {
      wal = option_flag(option);
    } else if (option.defname == "settings") {
      options.settings = option_flag(option);
    } else if (option.defname == "serialize") {
      options.serialize = read_serialize(option);
    } else if (option.defname == "generic_plan") {
      options.generic_plan = option_flag(option);
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
  if (options.serialize && !options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value, "EXPLAIN option SERIALIZE requires ANALYZE"};
  }
  if (options.generic_plan && options.analyze) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "EXPLAIN options ANALYZE and GENERIC_PLAN cannot be used together"};
  }
  if (wal) refuse_explain_option("wal");
  if (memory) refuse_explain_option("memory");
  options.timing = timing.value_or(true);
  options.summary = summary.value_or(options.analyze);
  options.buffers = buffers.value_or(true) && options.analyze;
  return options;
}

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double milliseconds_since(TimePoint start) {
  return milliseconds(Runtime::current().now() - start);
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

/// Times and bytes of the statement as a whole.
struct Measures {
  double planning_ms = 0;
  double execution_ms = 0;
  Duration converting{};  ///< of the rows, by SERIALIZE
  std::uint64_t converted_bytes = 0;
};

std::uint64_t kilobytes(std::uint64_t bytes) {
  return (bytes + 1023) / 1024;
}

/// Converts the row that the plan is at, and throws it away.
class MeasuredConversion {
 public:
  MeasuredConversion(const ExplainOptions& wanted, PlanRun& run, Measures& measures)
      : wanted_(wanted),
        columns_(output_columns(run.plan->columns, {{*wanted.serialize}})),
        row_(run, columns_),
        measures_(measures) {}

  void convert() {
    const TimePoint start = wanted_.timing ? Runtime::current().now() : TimePoint{};
    row_.append_data_row(bytes_);
    if (wanted_.timing) measures_.converting += Runtime::current().now() - start;
    measures_.converted_bytes += bytes_.size();
    bytes_.clear();
  }

 private:
  const ExplainOptions& wanted_;
  std::vector<OutputColumn> columns_;
  RowView row_;
  Measures& measures_;
  std::string bytes_;
};

/// Runs the plan to its end, and throws its rows away.
void run_to_end(Session::State& session, Portal& portal, const ExplainOptions& wanted,
                Measures& measures) {
  session.portals.start(portal);
  PlanRun& run = *portal.run;
  try {
    std::optional<MeasuredConversion> conversion;
    if (wanted.serialize && portal.statement->returns_rows) {
      conversion.emplace(wanted, run, measures);
    }
    RowScope scope{run.execution};
    while (run.root->next(run.execution)) {
      if (conversion) conversion->convert();
      scope.rewind();
    }
  } catch (...) {
    run.end();
    throw;
  }
}

/// A portal that can be shown and not run: its parameters have no values.
PortalPtr generic_portal(Session::State& session, StatementPtr statement) {
  auto portal = std::make_shared<Portal>();
  portal->statement = std::move(statement);
  portal->use = session.plans.plan_for(*portal->statement, {});
  return portal;
}

std::string_view name_of(Format format) {
  return format == Format::binary ? "binary" : "text";
}

void add_measures_as_text(const ExplainOptions& wanted, const Measures& measures,
                          std::vector<std::string>& rows) {
  if (wanted.summary) rows.push_back(fmt::format("Planning Time: {:.3f} ms", measures.planning_ms));
  if (wanted.serialize) {
    std::string line = "Serialization: ";
    if (wanted.timing) line += fmt::format("time={:.3f} ms  ", milliseconds(measures.converting));
    rows.push_back(line + fmt::format("output={}kB  format={}", kilobytes(measures.converted_bytes),
                                      name_of(*wanted.serialize)));
  }
  if (wanted.summary && wanted.analyze) {
    rows.push_back(fmt::format("Execution Time: {:.3f} ms", measures.execution_ms));
  }
}

void add_measures(const ExplainOptions& wanted, const Measures& measures, PlanDocument& out) {
  if (wanted.summary) out.add("Planning Time", fmt::format("{:.3f}", measures.planning_ms));
  if (wanted.analyze) {
    out.begin_list("Triggers");
    out.end();
  }
  if (wanted.serialize) {
    out.begin_object("Serialization");
    if (wanted.timing) {
      out.add("Time", fmt::format("{:.3f}", milliseconds(measures.converting)));
    }
    out.add("Output Volume", std::to_string(kilobytes(measures.converted_bytes)));
    out.add_text("Format", name_of(*wanted.serialize));
    out.end();
  }
  if (wanted.summary && wanted.analyze) {
    out.add("Execution Time", fmt::format("{:.3f}", measures.execution_ms));
  }
}

/// Settings of which PostgreSQL says that they influence plans.
bool influences_plans(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "constraint_exclusion",
      "cpu_index_tuple_cost",
      "cpu_operator_cost",
      "cpu_tuple_cost",
      "cursor_tuple_fraction",
      "debug_parallel_query",
      "effective_cache_size",
      "effective_io_concurrency",
      "from_collapse_limit",
      "hash_mem_multiplier",
      "jit",
      "join_collapse_limit",
      "max_parallel_workers",
      "max_parallel_workers_per_gather",
      "min_parallel_index_scan_size",
      "min_parallel_table_scan_size",
      "parallel_leader_participation",
      "parallel_setup_cost",
      "parallel_tuple_cost",
      "plan_cache_mode",
      "random_page_cost",
      "recursive_worktable_factor",
      "search_path",
      "seq_page_cost",
      "temp_buffers",
      "work_mem",
  };
  return name.starts_with("enable_") || name.starts_with("geqo") ||
         std::ranges::binary_search(kNames, name);
}

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Returns the settings that influence plans and do not have their built-in values.
NamedValues changed_settings(Session::State& session) {
  NamedValues changed;
  for (const SettingView& setting : session.settings.all()) {
    const SettingDefinition& definition = *setting.definition;
    if (!influences_plans(definition.name) || setting.value == definition.default_value) continue;
    changed.emplace_back(definition.name, value_of(session.settings.show(definition.name)));
  }
  return changed;
}

std::string settings_line(const NamedValues& settings) {
  std::string line;
  for (const auto& [name, value] : settings) {
    line += fmt::format("{}{} = '{}'", line.empty() ? "Settings: " : ", ", name, value);
  }
  return line;
}

std::vector<std::string> explained_as_text(Session::State& session, const PlanOperator& root,
                                           const PlanDetails& details, const ExplainOptions& wanted,
                                           const Measures& measures) {
  std::vector<std::string> rows = plan_as_text(root, details);
  if (wanted.settings) {
    const NamedValues settings = changed_settings(session);
    if (!settings.empty()) rows.push_back(settings_line(settings));
  }
  add_measures_as_text(wanted, measures, rows);
  return rows;
}

PlanDocument::Format format_of(ExplainOptions::Layout layout) {
  using enum ExplainOptions::Layout;
  if (layout == xml) return PlanDocument::Format::xml;
  return layout == yaml ? PlanDocument::Format::yaml : PlanDocument::Format::json;
}

std::string explained_as_document(Session::State& session, const PlanOperator& root,
                                  const PlanDetails& details, const ExplainOptions& wanted,
                                  const Measures& measures) {
  Arena arena;
  TextBuilder text{arena};
  PlanDocument document{format_of(wanted.layout), text};
  document.begin_element("Query");
  write_plan(root, details, document);
  if (wanted.settings) {
    document.begin_object("Settings");
    for (const auto& [name, value] : changed_settings(session)) document.add_text(name, value);
    document.end();
  }
  add_measures(wanted, measures, document);
  document.end();
  document.finish();
  return std::string{text.finish().as_text()};
}

}  // namespace

OutputColumn explain_column(const ast::ExplainStmt& explain) {
  using enum ExplainOptions::Layout;
  const ExplainOptions::Layout layout = read_options(explain.options).layout;
  const TypeId type = layout == json ? TypeId::json : layout == xml ? TypeId::xml : TypeId::text;
  return {"QUERY PLAN", 0, 0, raw(type), -1, -1, Format::text};
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
  if (wanted.generic_plan) statement->takes_parameters = true;
  Measures measures;
  const TimePoint planning = Runtime::current().now();
  const PortalPtr portal = wanted.generic_plan ? generic_portal(session, statement)
                                               : session.portals.make(statement, parameters);
  measures.planning_ms = milliseconds_since(planning);
  // EXPLAIN without ANALYZE needs the rights to run the plan as well. Locks come first: a plan that
  // was overtaken is made anew, without the steps that measure it.
  session.portals.lock_tables(*portal, SessionPortals::Columns::open);
  const auto root = [&]() -> PlanPtr& { return portal->use->own->root; };
  if (wanted.analyze) {
    Instrumented::put_over(root(),
                           wanted.timing ? Instrumented::Clock::on : Instrumented::Clock::off);
    const TimePoint start = Runtime::current().now();
    run_to_end(session, *portal, wanted, measures);
    measures.execution_ms = milliseconds_since(start);
  }
  note_subplans(*root());
  PlanDetails details{.costs = wanted.costs,
                      .timing = wanted.timing,
                      .buffers = wanted.buffers,
                      .columns = portal->plan().explained_columns,
                      .output = {}};
  if (wanted.verbose) details.output = output_of(*statement);
  std::vector<std::string> rows;
  if (wanted.layout == ExplainOptions::Layout::text) {
    rows = explained_as_text(session, *root(), details, wanted, measures);
  } else {
    rows.push_back(explained_as_document(session, *root(), details, wanted, measures));
  }
  session.portals.finish(*portal);
  const OutputColumn column = explain_column(explain);
  sink.row_description({&column, 1});
  for (const std::string& row : rows) {
    const std::optional<std::string> values[] = {row};
    sink.data_row(TextRow{values, session.session_context.format.client_encoding});
  }
}

}  // namespace swizzle::sql
