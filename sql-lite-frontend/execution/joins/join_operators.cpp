#include "sql-lite-frontend/execution/joins/join_operators.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"

namespace swizzle::sql {
namespace {

std::string_view name_of(JoinKind kind) noexcept {
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
    case JoinKind::right_semi:
      return " Right Semi";
    case JoinKind::right_anti:
      return " Right Anti";
  }
  return "";
}

}  // namespace

JoinOperator::JoinOperator(JoinKind kind, PlanPtr outer, PlanPtr inner,
                           std::vector<ExprPtr> conditions)
    : kind_(kind),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      conditions_(std::move(conditions)),
      inner_slots_(inner_->output_slots()),
      outer_row_(outer_->output_slots()) {}

JoinOperator::JoinOperator(const JoinOperator& of, StepCopies& copies)
    : kind_(of.kind_),
      outer_(copies.copy(of.outer_)),
      inner_(copies.copy(of.inner_)),
      conditions_(of.conditions_),
      inner_slots_(of.inner_slots_),
      outer_row_(of.outer_row_.slots()) {}

NestedLoop::NestedLoop(const NestedLoop& of, StepCopies& copies)
    : JoinOperator(of, copies), kept_(copies.copy_of(of.kept_)) {}

bool JoinOperator::matches(Execution& execution) const {
  return std::ranges::all_of(
      conditions_, [&](const ExprPtr& condition) { return holds(*condition, execution); });
}

void JoinOperator::set_null(Execution& execution, std::span<const Slot> slots) const {
  for (const Slot slot : slots) execution.slots[slot] = Value::null();
}

void JoinOperator::close_inputs() {
  // A join that has read its inner input closes it, and with it all below, once more at its end.
  constexpr std::size_t kWorkOfClosing = 100;
  unending_yield_point(kWorkOfClosing);
  outer_->close();
  inner_->close();
  outer_row_.forget();
}

std::vector<Slot> JoinOperator::output_slots() const {
  if (decides_inner()) return inner_->output_slots();
  std::vector<Slot> slots = outer_->output_slots();
  if (decides_outer()) return slots;
  const std::vector<Slot> more = inner_->output_slots();
  // Every level of nested joins calls this for all levels below it: quadratic work.
  yield_point(slots.size() + more.size());
  slots.insert(slots.end(), more.begin(), more.end());
  return slots;
}

PlanNote JoinOperator::note_of(std::string method, ExprPrinter::Columns columns) const {
  PlanNote note{std::move(method), {}};
  note.title += std::string{name_of(kind_)} + " Join";
  if (!conditions_.empty())
    note.properties.emplace_back("Join Filter", describe(*conditions_, columns));
  return note;
}

PlanNote JoinOperator::note_of(std::string method, ExprPrinter::Columns columns,
                               std::string keys_name, std::span<const ExprPtr> outer_keys,
                               std::span<const ExprPtr> inner_keys) const {
  PlanNote note = note_of(std::move(method), columns);
  std::string keys;
  for (std::size_t i = 0; i < outer_keys.size(); ++i) {
    if (i > 0) keys += " AND ";
    keys +=
        "(" + describe(*outer_keys[i], columns) + " = " + describe(*inner_keys[i], columns) + ")";
  }
  if (outer_keys.size() > 1) keys = "(" + keys + ")";
  note.properties.insert(note.properties.begin(), {std::move(keys_name), std::move(keys)});
  return note;
}

void NestedLoop::open(Execution& execution) {
  leave_outer_row();
  if (kept_ != nullptr) kept_->forget();
  outer().open(execution);
}

bool NestedLoop::next_match(Execution& execution) {
  // Drop the memory of inner rows that do not match.
  const Arena::Mark mark = execution.row_arena.mark();
  while (inner().next(execution)) {
    if (matches(execution)) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

void NestedLoop::close() {
  close_inputs();
}

PlanNote NestedLoop::note(ExprPrinter::Columns columns) const {
  PlanNote note = note_of("Nested Loop", columns);
  if (kind() == JoinKind::inner) note.title = "Nested Loop";
  return note;
}

}  // namespace swizzle::sql
