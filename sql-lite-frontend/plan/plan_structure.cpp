#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/joins/hash_join.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/plan_writer.h"
#include "sql-lite-frontend/plan/shown_step.h"
#include "sql-lite-frontend/types/check_stack.h"

/// EXPLAIN's formats other than text.
namespace swizzle::sql {
namespace {

/// The steps below one, a list that is begun with the first.
class ShownPlans {
 public:
  explicit ShownPlans(PlanDocument& out) : out_{out} {}
  /// Begins the next step, whose members the caller adds.
  void begin_next() {
    if (!std::exchange(has_begun_, true)) out_.begin_list("Plans");
    out_.begin_element("Plan");
  }
  void finish() {
    if (has_begun_) out_.end();
  }

 private:
  PlanDocument& out_;
  bool has_begun_ = false;
};

/// A step's relation to its parent.
struct Place {
  std::string_view relationship = {};  ///< "Outer"; empty for the root
  std::string_view subplan = {};       ///< "SubPlan 1"
};

/// Splits a title of the text format into PostgreSQL's fields.
void add_title(PlanDocument& object, std::string title, const Place& place) {
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
  if (title == "MixedAggregate") strategy = "Mixed";
  if (title == "Aggregate") strategy = "Plain";
  if (!strategy.empty()) title = "Aggregate";
  std::string operation;
  for (const std::string_view word : {"Insert", "Update", "Delete", "Merge"}) {
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
  if (title == "Table Function Scan") {
    object.add_text("Table Function Name", relation.substr(1, relation.size() - 2));
  } else {
    object.add_text("Relation Name", relation);
  }
  object.add_text("Alias", alias);
}

void add_numbers(PlanDocument& object, const PlanOperator& step, const PlanDetails& details) {
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
  object.add("Actual Rows", fmt::format("{:.2f}", static_cast<double>(run.rows) / loops));
  object.add("Actual Loops", std::to_string(run.loops));
}

/// Adds if a setting has disabled the step itself, which is planned if there is no other way.
void add_disabled(PlanDocument& object, const PlanOperator& step) {
  double own = step.cost;
  for (const PlanOperator* child : shown_step(step).children()) own -= child->cost;
  object.add("Disabled", own >= cost::kDisabled / 2 ? "true" : "false");
}

void add_measures(PlanDocument& object, const PlanOperator& step) {
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

class StructureWriter {
 public:
  StructureWriter(const PlanDetails& details, PlanDocument& out) : details_(details), out_(out) {}

  /// Adds the members of a step, whose object has begun, and ends it.
  void write(const PlanOperator& step, const Place& place) const {
    check_stack();
    const PlanOperator& shown = shown_step(step);
    const PlanNote note = shown.note(details_.columns);
    const auto* measured = dynamic_cast<const Instrumented*>(&step);
    const bool has_hash = dynamic_cast<const HashJoin*>(&shown) != nullptr;
    add_title(out_, note.title, place);
    add_numbers(out_, step, details_);
    add_disabled(out_, step);
    if (place.relationship.empty() && !details_.output.empty()) {
      out_.add_text("Output", details_.output);
    }
    for (const auto& [name, text] : note.properties) out_.add_text(name, text);
    const bool ran = measured != nullptr && measured->run().loops > 0;
    if (ran && !has_hash) add_measures(out_, shown);
    if (ran && details_.buffers) {
      out_.add("Shared Hit Blocks", std::to_string(measured->run().leaves));
    }
    ShownPlans plans{out_};
    write_subplans(plans, step, Subplan::Runs::once);
    const auto children = shown.children();
    const bool is_join = dynamic_cast<const JoinOperator*>(&shown) != nullptr;
    for (std::size_t i = 0; i < children.size(); ++i) {
      plans.begin_next();
      if (has_hash && i == 1) {
        write_hash(shown, *children[i], ran);
        continue;
      }
      const bool is_member = !is_join && children.size() > 1;
      const std::string_view relationship = is_member ? "Member" : i == 0 ? "Outer" : "Inner";
      write(*children[i], {relationship});
    }
    write_subplans(plans, step, Subplan::Runs::for_each_row);
    plans.finish();
    out_.end();
  }

 private:
  void write_hash(const PlanOperator& join, const PlanOperator& build, bool ran) const {
    add_title(out_, "Hash", {"Inner"});
    add_numbers(out_, build, details_);
    out_.add("Disabled", "false");
    if (ran) add_measures(out_, join);
    ShownPlans plans{out_};
    plans.begin_next();
    write(build, {"Outer"});
    plans.finish();
    out_.end();
  }

  void write_subplans(ShownPlans& plans, const PlanOperator& step, Subplan::Runs runs) const {
    for (const Subplan& subplan : step.subplans) {
      if (subplan.runs != runs) continue;
      const bool is_once = runs == Subplan::Runs::once;
      const Place place{is_once ? "InitPlan" : "SubPlan", subplan.name};
      plans.begin_next();
      if (subplan.parts.size() == 1) {
        write(*subplan.parts[0], place);
        continue;
      }
      add_title(out_, kRecursiveUnion, place);
      ShownPlans parts{out_};
      parts.begin_next();
      write(*subplan.parts[0], {"Outer"});
      parts.begin_next();
      write(*subplan.parts[1], {"Inner"});
      parts.finish();
      out_.end();
    }
  }

  const PlanDetails& details_;
  PlanDocument& out_;
};

}  // namespace

void write_plan(const PlanOperator& root, const PlanDetails& details, PlanDocument& out) {
  out.begin_object("Plan");
  StructureWriter{details, out}.write(root, {});
}

}  // namespace swizzle::sql
