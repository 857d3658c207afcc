#include <fmt/format.h>

#include "base/runtime.h"
#include "sql-lite-frontend/session/row_view.h"
#include "sql-lite-frontend/session/session_state.h"

namespace swizzle::sql {
namespace {

struct ExplainOptions {
  bool analyze = false;
  bool costs = true;
};

ExplainOptions read_options(ast::NodeList list) {
  ExplainOptions options;
  for (const ast::Node* node : list) {
    const auto& option = ast::as<ast::DefElem>(node);
    bool on = true;
    std::string_view text;
    if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
    if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) on = integer->ival != 0;
    if (text == "false" || text == "off") on = false;
    if (option.defname == "analyze") {
      options.analyze = on;
    } else if (option.defname == "costs") {
      options.costs = on;
    } else if (option.defname == "format") {
      if (text != "text") {
        throw_error(sqlstate::feature_not_supported, "EXPLAIN (FORMAT {}) is not supported", text);
      }
    } else if (option.defname != "verbose" && option.defname != "timing" &&
               option.defname != "summary" && option.defname != "buffers" &&
               option.defname != "settings" && option.defname != "wal") {
      throw sql_error(sqlstate::syntax_error, "unrecognized EXPLAIN option \"{}\"", option.defname)
          .at_position(option.location + 1);
    }
  }
  return options;
}

void write_plan(const PlanOperator& step, const ExplainOptions& options, std::size_t depth,
                std::vector<std::string>& lines) {
  const PlanNote note = step.note();
  std::string line = depth == 0 ? "" : std::string((depth - 1) * 6 + 2, ' ') + "->  ";
  line += note.title;
  if (options.costs) {
    line += fmt::format("  (cost={:.2f}..{:.2f} rows={:.0f} width=0)", step.start_cost,
                        step.expected_rows, step.expected_rows);
  }
  lines.push_back(std::move(line));
  const std::string indent(depth == 0 ? 2 : depth * 6 + 2, ' ');
  for (const auto& [name, text] : note.properties) {
    lines.push_back(fmt::format("{}{}: {}", indent, name, text));
  }
  if (options.analyze) {
    for (const PlanMeasure& measure : step.measured()) lines.push_back(indent + measure.line);
  }
  for (const PlanOperator* child : step.children()) {
    write_plan(*child, options, depth + 1, lines);
  }
}

}  // namespace

void Session::State::explain(const ast::ExplainStmt& explain, ResultSink& sink) {
  const ExplainOptions wanted = read_options(explain.options);
  if (!is_plannable(explain.query)) {
    throw_error(sqlstate::feature_not_supported, "EXPLAIN of {} is not supported",
                statement_name(explain.query));
  }
  auto statement = std::make_shared<Statement>();
  statement->node = explain.query;
  const PortalPtr portal = make_portal(statement, {});
  std::vector<std::string> lines;
  if (!wanted.analyze) {
    write_plan(*portal->plan->root, wanted, 0, lines);
  } else {
    Runtime& runtime = Runtime::current();
    const TimePoint start = runtime.now();
    start_portal(*portal);
    std::uint64_t rows = 0;
    try {
      RowScope scope{portal->plan->execution};
      while (portal->plan->root->next(portal->plan->execution)) {
        ++rows;
        scope.rewind();
      }
    } catch (...) {
      portal->plan->end_run();
      throw;
    }
    write_plan(*portal->plan->root, wanted, 0, lines);
    finish_portal(*portal);
    const double ms = std::chrono::duration<double, std::milli>(runtime.now() - start).count();
    lines[0] += fmt::format(" (actual rows={} loops=1)", rows);
    lines.push_back(fmt::format("Execution Time: {:.3f} ms", ms));
  }
  const OutputColumn column{"QUERY PLAN", 0, 0, raw(TypeId::text), -1, -1, Format::text};
  sink.row_description({&column, 1});
  for (const std::string& line : lines) {
    const std::optional<std::string> values[] = {line};
    sink.data_row(TextRow{values});
  }
  sink.command_complete("EXPLAIN");
}

}  // namespace swizzle::sql
