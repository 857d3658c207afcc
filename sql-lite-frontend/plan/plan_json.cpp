#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/execution/joins/hash_join.h"
#include "sql-lite-frontend/plan/plan_writer.h"
#include "sql-lite-frontend/plan/shown_step.h"
#include "sql-lite-frontend/types/check_stack.h"

/// EXPLAIN (FORMAT JSON).
namespace swizzle::sql {
namespace {

/// Names and values of one object, in order. Written in place, because deep plans have wide
/// indents.
class JsonObject {
 public:
  JsonObject(TextBuilder& out, std::size_t depth) : out_{out}, depth_{depth} { out_ += "{\n"; }
  void add_text(std::string_view name, std::string_view text) { add(name, json_string(text)); }
  void add(std::string_view name, std::string_view value) { begin(name) += value; }
  /// Begins a value, which the caller writes next.
  TextBuilder& begin(std::string_view name) {
    if (!std::exchange(is_empty_, false)) out_ += ",\n";
    out_.append(depth_ * 2 + 2, ' ');
    out_ += json_string(name);
    out_ += ": ";
    return out_;
  }
  void finish() {
    out_ += "\n";
    out_.append(depth_ * 2, ' ');
    out_ += "}";
  }

 private:
  TextBuilder& out_;
  std::size_t depth_;
  bool is_empty_ = true;
};

/// The steps below one, which it has only if there are some.
class JsonPlans {
 public:
  /// `depth`: the steps' depth in the document, for their indentation.
  JsonPlans(JsonObject& object, std::size_t depth) : object_{object}, depth_{depth} {}
  /// Begins the next step; the caller writes it.
  TextBuilder& next() {
    if (out_ == nullptr) {
      out_ = &object_.begin("Plans");
      *out_ += "[\n";
    } else {
      *out_ += ",\n";
    }
    out_->append(depth_ * 2, ' ');
    return *out_;
  }
  void finish() {
    if (out_ == nullptr) return;
    *out_ += "\n";
    out_->append(depth_ * 2 - 2, ' ');
    *out_ += "]";
  }

 private:
  JsonObject& object_;
  std::size_t depth_;
  TextBuilder* out_ = nullptr;
};

/// A step's relation to its parent.
struct Place {
  std::string_view relationship = {};  ///< "Outer"; empty for the root
  std::string_view subplan = {};       ///< "SubPlan 1"
};

/// Splits a title of the text format into PostgreSQL's fields.
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
  object.add("Actual Rows", fmt::format("{:.2f}", static_cast<double>(run.rows) / loops));
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

class JsonWriter {
 public:
  explicit JsonWriter(const PlanDetails& details) : details_(details) {}

  void write(TextBuilder& out, const PlanOperator& step, const Place& place,
             std::size_t depth) const {
    check_stack();
    const PlanOperator& shown = shown_step(step);
    const PlanNote note = shown.note(details_.columns);
    const auto* measured = dynamic_cast<const Instrumented*>(&step);
    const bool has_hash = dynamic_cast<const HashJoin*>(&shown) != nullptr;
    JsonObject object{out, depth};
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
    JsonPlans plans{object, depth + 2};
    write_subplans(plans, step, Subplan::Runs::once, depth + 2);
    const auto children = shown.children();
    const bool is_join = dynamic_cast<const JoinOperator*>(&shown) != nullptr;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (has_hash && i == 1) {
        write_hash(plans.next(), shown, *children[i], ran, depth + 2);
        continue;
      }
      const bool is_member = !is_join && children.size() > 1;
      const std::string_view relationship = is_member ? "Member" : i == 0 ? "Outer" : "Inner";
      write(plans.next(), *children[i], {relationship}, depth + 2);
    }
    write_subplans(plans, step, Subplan::Runs::for_each_row, depth + 2);
    plans.finish();
    object.finish();
  }

 private:
  void write_hash(TextBuilder& out, const PlanOperator& join, const PlanOperator& build, bool ran,
                  std::size_t depth) const {
    JsonObject hash{out, depth};
    add_title(hash, "Hash", {"Inner"});
    add_numbers(hash, build, details_);
    if (ran) add_measures(hash, join);
    JsonPlans plans{hash, depth + 2};
    write(plans.next(), build, {"Outer"}, depth + 2);
    plans.finish();
    hash.finish();
  }

  void write_subplans(JsonPlans& plans, const PlanOperator& step, Subplan::Runs runs,
                      std::size_t depth) const {
    for (const Subplan& subplan : step.subplans) {
      if (subplan.runs != runs) continue;
      const bool is_once = runs == Subplan::Runs::once;
      const Place place{is_once ? "InitPlan" : "SubPlan", subplan.name};
      if (subplan.parts.size() == 1) {
        write(plans.next(), *subplan.parts[0], place, depth);
        continue;
      }
      JsonObject both{plans.next(), depth};
      add_title(both, kRecursiveUnion, place);
      JsonPlans parts{both, depth + 2};
      write(parts.next(), *subplan.parts[0], {"Outer"}, depth + 2);
      write(parts.next(), *subplan.parts[1], {"Inner"}, depth + 2);
      parts.finish();
      both.finish();
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

void write_plan_as_json(const PlanOperator& root, const PlanDetails& details, std::size_t depth,
                        TextBuilder& out) {
  JsonWriter{details}.write(out, root, {}, depth);
}

}  // namespace swizzle::sql
