#include "sql-lite-frontend/plan/plan_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execution/joins/hash_join.h"
#include "sql-lite-frontend/execution/steps/instrumented.h"
#include "sql-lite-frontend/plan/shown_step.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

std::string cost_text(const PlanOperator& step) {
  return fmt::format("  (cost={:.2f}..{:.2f} rows={:.0f} width={})", step.start_cost, step.cost,
                     std::max(1.0, step.expected_rows), width_of(step));
}

std::string run_text(const Instrumented& measured, const PlanDetails& details) {
  const Instrumented::Measured& run = measured.run();
  if (run.loops == 0) return " (never executed)";
  const auto loops = static_cast<double>(run.loops);
  std::string text = " (actual ";
  if (details.timing) {
    text += fmt::format("time={:.3f}..{:.3f} ", milliseconds(run.until_first_row) / loops,
                        milliseconds(run.total) / loops);
  }
  return text +
         fmt::format("rows={:.2f} loops={})", static_cast<double>(run.rows) / loops, run.loops);
}

class TextWriter {
 public:
  explicit TextWriter(const PlanDetails& details) : details_(details) {}

  void write_root(const PlanOperator& root) {
    begin_line("", shown_step(root).note(details_.columns).title, root);
    if (!details_.output.empty()) lines.push_back("  Output: " + details_.output);
    write_below(root, "  ");
  }

  std::vector<std::string> lines;

 private:
  void write(const PlanOperator& step, const std::string& indent) {
    begin_line(indent + "->  ", shown_step(step).note(details_.columns).title, step);
    write_below(step, indent + kStep);
  }

  void write_below(const PlanOperator& step, const std::string& indent) {
    check_stack();
    const auto* measured = dynamic_cast<const Instrumented*>(&step);
    const PlanOperator& shown = shown_step(step);
    const PlanNote note = shown.note(details_.columns);
    for (const std::string& target : note.targets) lines.push_back(indent + target);
    for (const auto& [name, text] : note.properties) {
      lines.push_back(fmt::format("{}{}: {}", indent, name, text));
    }
    const bool has_hash = dynamic_cast<const HashJoin*>(&shown) != nullptr;
    const bool ran = measured != nullptr && measured->run().loops > 0;
    if (ran && !has_hash) write_measures(shown, indent);
    if (ran && details_.buffers && measured->run().leaves > 0) {
      lines.push_back(fmt::format("{}Buffers: shared hit={}", indent, measured->run().leaves));
    }
    write_subplans(step, Subplan::Runs::once, indent);
    const auto children = shown.children();
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (!has_hash || i != 1) {
        write(*children[i], indent);
        continue;
      }
      // PostgreSQL shows the building of the table as a step.
      begin_line(indent + "->  ", "Hash", *children[i]);
      if (ran) write_measures(shown, indent + kStep);
      write(*children[i], indent + kStep);
    }
    write_subplans(step, Subplan::Runs::for_each_row, indent);
  }

  void write_subplans(const PlanOperator& step, Subplan::Runs runs, const std::string& indent) {
    for (const Subplan& subplan : step.subplans) {
      if (subplan.runs != runs) continue;
      lines.push_back(indent + subplan.name);
      std::string below = indent + "  ";
      if (subplan.parts.size() > 1) {
        lines.push_back(below + "->  " + kRecursiveUnion);
        below += kStep;
      }
      for (const PlanOperator* part : subplan.parts) write(*part, below);
    }
  }

  void begin_line(const std::string& before, std::string_view title, const PlanOperator& step) {
    std::string line = before;
    line += title;
    if (details_.costs) line += cost_text(step);
    if (const auto* measured = dynamic_cast<const Instrumented*>(&step)) {
      line += run_text(*measured, details_);
    }
    lines.push_back(std::move(line));
  }
  void write_measures(const PlanOperator& step, const std::string& indent) {
    for (const PlanMeasure& measure : step.measured()) lines.push_back(indent + measure.line);
  }

  static constexpr const char* kStep = "      ";

  const PlanDetails& details_;
};

}  // namespace

std::vector<std::string> plan_as_text(const PlanOperator& root, const PlanDetails& details) {
  TextWriter writer{details};
  writer.write_root(root);
  return std::move(writer.lines);
}

}  // namespace swizzle::sql
