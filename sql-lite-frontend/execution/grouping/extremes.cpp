#include "sql-lite-frontend/execution/grouping/extremes.h"

#include <utility>

#include "sql-lite-frontend/execution/steps/step_copies.h"

namespace swizzle::sql {

Extremes::Extremes(const Extremes& of, StepCopies& copies) {
  for (const Part& part : of.parts_) {
    parts_.push_back({copies.copy(part.plan), part.value, part.slot});
  }
}

bool Extremes::next(Execution& execution) {
  if (std::exchange(done_, true)) return false;
  for (const Part& part : parts_) {
    part.plan->open(execution);
    const bool is_there = part.plan->next(execution);
    execution.slots[part.slot] =
        is_there ? (*part.value)->eval(execution).copy_to(execution.row_arena) : Value::null();
    part.plan->close();
  }
  return true;
}

void Extremes::close() {
  for (const Part& part : parts_) part.plan->close();
}

std::vector<Slot> Extremes::output_slots() const {
  std::vector<Slot> slots;
  for (const Part& part : parts_) slots.push_back(part.slot);
  return slots;
}

std::vector<const PlanOperator*> Extremes::children() const {
  std::vector<const PlanOperator*> all;
  for (const Part& part : parts_) all.push_back(part.plan.get());
  return all;
}

}  // namespace swizzle::sql
