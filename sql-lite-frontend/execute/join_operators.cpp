#include "sql-lite-frontend/execute/join_operators.h"

#include <algorithm>

namespace swizzle::sql {

std::string_view kind_name(JoinKind kind) noexcept {
  switch (kind) {
    case JoinKind::inner:
      return "";
    case JoinKind::left:
      return " Left";
    case JoinKind::right:
      return " Right";
    case JoinKind::full:
      return " Full";
    case JoinKind::semi:
      return " Semi";
    case JoinKind::anti:
      return " Anti";
  }
  return "";
}

void set_null(Execution& execution, std::span<const Slot> slots) {
  for (const Slot slot : slots) execution.slots[slot] = Value::null();
}

bool all_hold(std::span<const ExprPtr> conditions, Execution& execution) {
  return std::ranges::all_of(
      conditions, [&](const ExprPtr& condition) { return holds(*condition, execution); });
}

std::vector<Slot> joined_slots(const PlanOperator& left, const PlanOperator& right, JoinKind kind) {
  std::vector<Slot> slots = left.output_slots();
  if (kind == JoinKind::semi || kind == JoinKind::anti) return slots;
  const std::vector<Slot> more = right.output_slots();
  slots.insert(slots.end(), more.begin(), more.end());
  return slots;
}

NestedLoop::NestedLoop(JoinKind kind, PlanPtr outer, PlanPtr inner, std::vector<ExprPtr> conditions)
    : kind_(kind),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      conditions_(std::move(conditions)),
      inner_slots_(inner_->output_slots()),
      outer_row_(outer_->output_slots()) {}

void NestedLoop::open(Execution& execution) {
  in_outer_row_ = false;
  outer_->open(execution);
}

bool NestedLoop::matches(Execution& execution) const {
  return all_hold(conditions_, execution);
}

bool NestedLoop::next(Execution& execution) {
  for (;;) {
    if (!in_outer_row_) {
      if (!outer_row_.next(execution, [&] { return outer_->next(execution); })) return false;
      inner_->open(execution);
      in_outer_row_ = true;
      matched_ = false;
    }
    // What inner rows make is dropped when they do not match.
    const Arena::Mark mark = execution.row_arena.mark();
    while (inner_->next(execution)) {
      if (!matches(execution)) {
        execution.row_arena.rewind(mark);
        continue;
      }
      matched_ = true;
      if (kind_ == JoinKind::anti) break;
      if (kind_ == JoinKind::semi) in_outer_row_ = false;
      return true;
    }
    in_outer_row_ = false;
    if (!matched_ && (kind_ == JoinKind::left || kind_ == JoinKind::anti)) {
      set_null(execution, inner_slots_);
      return true;
    }
  }
}

void NestedLoop::close() {
  outer_->close();
  inner_->close();
}

std::vector<Slot> NestedLoop::output_slots() const {
  return joined_slots(*outer_, *inner_, kind_);
}

PlanNote NestedLoop::note() const {
  PlanNote note{"Nested Loop", {}};
  if (kind_ != JoinKind::inner) note.title += std::string{kind_name(kind_)} + " Join";
  if (!conditions_.empty()) note.properties.emplace_back("Join Filter", describe(conditions_));
  return note;
}

}  // namespace swizzle::sql
