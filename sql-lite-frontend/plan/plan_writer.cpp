#include "sql-lite-frontend/plan/plan_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "sql-lite-frontend/execute/hash_join.h"
#include "sql-lite-frontend/execute/instrumented.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// What PostgreSQL calls the step over the two parts of a recursive WITH query.
constexpr const char* kRecursiveUnion = "Recursive Union";

/// The step itself, past what measures it and past what is shown with its input.
const PlanOperator& shown_step(const PlanOperator& step) {
  const auto* measured = dynamic_cast<const Instrumented*>(&step);
  return measured != nullptr ? measured->step() : step;
}

std::size_t width_of(const PlanOperator& step) {
  return step.output_slots().size() * sizeof(std::int64_t);
}

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
         fmt::format("rows={:.0f} loops={})", static_cast<double>(run.rows) / loops, run.loops);
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
    for (const auto& [name, text] : shown.note(details_.columns).properties) {
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

/// Names and values of one object, in order.
class JsonObject {
 public:
  explicit JsonObject(std::size_t depth) : indent_(depth * 2, ' ') {}
  void add_text(std::string_view name, std::string_view text) { add(name, json_string(text)); }
  void add(std::string_view name, std::string value) {
    if (!out_.empty()) out_ += ",\n";
    out_ += indent_ + "  " + json_string(name) + ": " + std::move(value);
  }
  [[nodiscard]] std::string finish() const { return "{\n" + out_ + "\n" + indent_ + "}"; }

 private:
  std::string indent_;
  std::string out_;
};

/// How a step stands to the one that it is listed under.
struct Place {
  std::string_view relationship = {};  ///< "Outer"; empty for the root
  std::string_view subplan = {};       ///< "SubPlan 1"
};

/// PostgreSQL's names for what a title says in one line.
void add_title(JsonObject& object, std::string title, const Place& place) {
  const auto cut = [&](std::string_view word) -> std::string {
    const auto at = title.find(word);
    if (at == std::string::npos) return {};
    std::string rest = title.substr(at + word.size());
    title.resize(at);
    return rest;
  };
  std::string relation = cut(" on ");
  const std::string index = cut(" using ");
  const bool backward = !cut(" Backward").empty() || title.ends_with(" Backward");
  std::string join;
  for (const std::string_view kind : {"Left", "Right", "Full", "Semi", "Anti"}) {
    const auto at = title.find(" " + std::string{kind} + " Join");
    if (at == std::string::npos) continue;
    join = kind;
    title = title.substr(0, at) + (title.starts_with("Hash") ? " Join" : "");
  }
  if (join.empty() && (title == "Hash Join" || title == "Nested Loop")) join = "Inner";
  std::string strategy;
  if (title == "HashAggregate") strategy = "Hashed";
  if (title == "Aggregate") strategy = "Plain";
  if (!strategy.empty()) title = "Aggregate";
  std::string operation;
  for (const std::string_view word : {"Insert", "Update", "Delete"}) {
    if (title == word) operation = word;
  }
  object.add_text("Node Type", operation.empty() ? title : "ModifyTable");
  if (!operation.empty()) object.add_text("Operation", operation);
  if (!strategy.empty()) {
    object.add_text("Strategy", strategy);
    object.add_text("Partial Mode", "Simple");
  }
  if (!place.relationship.empty()) object.add_text("Parent Relationship", place.relationship);
  if (!place.subplan.empty()) object.add_text("Subplan Name", place.subplan);
  object.add("Parallel Aware", "false");
  object.add("Async Capable", "false");
  if (!join.empty()) object.add_text("Join Type", join);
  if (title.starts_with("Index"))
    object.add_text("Scan Direction", backward ? "Backward" : "Forward");
  if (!index.empty()) object.add_text("Index Name", index);
  if (relation.empty()) return;
  const auto blank = relation.find(' ');
  const std::string alias = blank == std::string::npos ? relation : relation.substr(blank + 1);
  relation.resize(std::min(blank, relation.size()));
  object.add_text("Relation Name", relation);
  object.add_text("Alias", alias);
}

void add_numbers(JsonObject& object, const PlanOperator& step, const PlanDetails& details) {
  if (details.costs) {
    object.add("Startup Cost", fmt::format("{:.2f}", step.start_cost));
    object.add("Total Cost", fmt::format("{:.2f}", step.cost));
    object.add("Plan Rows", fmt::format("{:.0f}", std::max(1.0, step.expected_rows)));
    object.add("Plan Width", std::to_string(width_of(step)));
  }
  const auto* measured = dynamic_cast<const Instrumented*>(&step);
  if (measured == nullptr) return;
  const Instrumented::Measured& run = measured->run();
  const auto loops = static_cast<double>(std::max<std::uint64_t>(run.loops, 1));
  if (details.timing) {
    object.add("Actual Startup Time",
               fmt::format("{:.3f}", milliseconds(run.until_first_row) / loops));
    object.add("Actual Total Time", fmt::format("{:.3f}", milliseconds(run.total) / loops));
  }
  object.add("Actual Rows", fmt::format("{:.0f}", static_cast<double>(run.rows) / loops));
  object.add("Actual Loops", std::to_string(run.loops));
}

void add_measures(JsonObject& object, const PlanOperator& step) {
  for (const PlanMeasure& measure : step.measured()) {
    for (const auto& [name, value] : measure.values) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        object.add_text(name, *text);
      } else {
        object.add(name, std::to_string(std::get<std::uint64_t>(value)));
      }
    }
  }
}

std::string json_list(const std::vector<std::string>& objects, std::size_t depth) {
  const std::string indent(depth * 2, ' ');
  std::string out = "[\n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    out += indent + "  " + objects[i] + (i + 1 < objects.size() ? ",\n" : "\n");
  }
  return out + indent + "]";
}

class JsonWriter {
 public:
  explicit JsonWriter(const PlanDetails& details) : details_(details) {}

  [[nodiscard]] std::string write(const PlanOperator& step, const Place& place,
                                  std::size_t depth) const {
    check_stack();
    const PlanOperator& shown = shown_step(step);
    const PlanNote note = shown.note(details_.columns);
    const auto* measured = dynamic_cast<const Instrumented*>(&step);
    const bool has_hash = dynamic_cast<const HashJoin*>(&shown) != nullptr;
    JsonObject object{depth};
    add_title(object, note.title, place);
    add_numbers(object, step, details_);
    if (place.relationship.empty() && !details_.output.empty()) {
      object.add_text("Output", details_.output);
    }
    for (const auto& [name, text] : note.properties) object.add_text(name, text);
    const bool ran = measured != nullptr && measured->run().loops > 0;
    if (ran && !has_hash) add_measures(object, shown);
    if (ran && details_.buffers) {
      object.add("Shared Hit Blocks", std::to_string(measured->run().leaves));
    }
    std::vector<std::string> plans;
    add_subplans(plans, step, Subplan::Runs::once, depth + 2);
    const auto children = shown.children();
    const bool is_join = dynamic_cast<const JoinOperator*>(&shown) != nullptr;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (has_hash && i == 1) {
        plans.push_back(write_hash(shown, *children[i], ran, depth + 2));
        continue;
      }
      const bool is_member = !is_join && children.size() > 1;
      const std::string_view relationship = is_member ? "Member" : i == 0 ? "Outer" : "Inner";
      plans.push_back(write(*children[i], {relationship}, depth + 2));
    }
    add_subplans(plans, step, Subplan::Runs::for_each_row, depth + 2);
    if (!plans.empty()) object.add("Plans", json_list(plans, depth + 1));
    return object.finish();
  }

 private:
  [[nodiscard]] std::string write_hash(const PlanOperator& join, const PlanOperator& build,
                                       bool ran, std::size_t depth) const {
    JsonObject hash{depth};
    add_title(hash, "Hash", {"Inner"});
    add_numbers(hash, build, details_);
    if (ran) add_measures(hash, join);
    hash.add("Plans", json_list({write(build, {"Outer"}, depth + 2)}, depth + 1));
    return hash.finish();
  }

  void add_subplans(std::vector<std::string>& plans, const PlanOperator& step, Subplan::Runs runs,
                    std::size_t depth) const {
    for (const Subplan& subplan : step.subplans) {
      if (subplan.runs != runs) continue;
      const bool is_once = runs == Subplan::Runs::once;
      const Place place{is_once ? "InitPlan" : "SubPlan", subplan.name};
      if (subplan.parts.size() == 1) {
        plans.push_back(write(*subplan.parts[0], place, depth));
        continue;
      }
      JsonObject both{depth};
      add_title(both, kRecursiveUnion, place);
      both.add("Plans", json_list({write(*subplan.parts[0], {"Outer"}, depth + 2),
                                   write(*subplan.parts[1], {"Inner"}, depth + 2)},
                                  depth + 1));
      plans.push_back(both.finish());
    }
  }

  const PlanDetails& details_;
};

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::vector<std::string> plan_as_text(const PlanOperator& root, const PlanDetails& details) {
  TextWriter writer{details};
  writer.write_root(root);
  return std::move(writer.lines);
}

std::string plan_as_json(const PlanOperator& root, const PlanDetails& details, std::size_t depth) {
  return JsonWriter{details}.write(root, {}, depth);
}

}  // namespace swizzle::sql
