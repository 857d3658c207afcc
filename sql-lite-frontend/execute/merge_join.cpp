#include "sql-lite-frontend/execute/merge_join.h"

#include <utility>

namespace swizzle::sql {

MergeJoin::MergeJoin(JoinKind kind, PlanPtr outer, PlanPtr inner, Keys keys,
                     std::vector<ExprPtr> conditions)
    : kind_(kind),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      keys_(std::move(keys)),
      compare_(compare_function(keys_.outer->type())),
      conditions_(std::move(conditions)),
      inner_slots_(inner_->output_slots()),
      outer_row_(outer_->output_slots()) {
  group_.rows.set_slots(inner_slots_);
  ahead_.rows.set_slots(inner_slots_);
}

void MergeJoin::Group::start(Execution& execution, const Value& with) {
  rows.clear();
  arena.reset();
  key = with.copy_to(arena);
  rows.keep(execution);
  is_there = true;
}

void MergeJoin::open(Execution& execution) {
  outer_->open(execution);
  inner_->open(execution);
  group_.is_there = false;
  ahead_.is_there = false;
  has_begun_ = false;
  in_outer_row_ = false;
}

void MergeJoin::read_ahead(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  ahead_.is_there = false;
  while (!ahead_.is_there && inner_->next(execution)) {
    const Value key = keys_.inner->eval(execution);
    if (!key.is_null()) ahead_.start(execution, key);
    execution.row_arena.rewind(mark);
  }
}

void MergeJoin::next_group(Execution& execution) {
  std::swap(group_, ahead_);
  ahead_.is_there = false;
  if (!group_.is_there) return;
  const Arena::Mark mark = execution.row_arena.mark();
  while (!ahead_.is_there && inner_->next(execution)) {
    const Value key = keys_.inner->eval(execution);
    if (!key.is_null()) {
      if (compare_(key, group_.key) == 0) {
        group_.rows.keep(execution);
      } else {
        ahead_.start(execution, key);
      }
    }
    execution.row_arena.rewind(mark);
  }
}

/// Finds the group of the outer row, if it has one.
void MergeJoin::come_to(Execution& execution) {
  if (!std::exchange(has_begun_, true)) {
    read_ahead(execution);
    next_group(execution);
  }
  position_ = 0;
  const Value key = keys_.outer->eval(execution);
  int order = 1;
  if (!key.is_null()) {
    while (group_.is_there && (order = compare_(group_.key, key)) < 0) next_group(execution);
  }
  if (order != 0 || !group_.is_there) position_ = group_.rows.size();
}

bool MergeJoin::next_match(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (position_ < group_.rows.size()) {
    group_.rows.restore(execution, position_++);
    if (all_hold(conditions_, execution)) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

bool MergeJoin::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  for (;;) {
    if (!in_outer_row_) {
      execution.row_arena.rewind(mark);
      if (!outer_row_.next(execution, [&] { return outer_->next(execution); })) return false;
      come_to(execution);
      in_outer_row_ = true;
      matched_ = false;
    }
    if (next_match(execution)) {
      matched_ = true;
      if (kind_ == JoinKind::anti) {
        in_outer_row_ = false;
        continue;
      }
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

void MergeJoin::close() {
  outer_->close();
  inner_->close();
  group_.rows.release();
  ahead_.rows.release();
}

std::vector<Slot> MergeJoin::output_slots() const {
  return joined_slots(*outer_, *inner_, kind_);
}

PlanNote MergeJoin::note() const {
  PlanNote note{"Merge", {}};
  note.title += std::string{kind_name(kind_)} + " Join";
  note.properties.emplace_back("Merge Cond",
                               "(" + describe(*keys_.outer) + " = " + describe(*keys_.inner) + ")");
  if (!conditions_.empty()) note.properties.emplace_back("Join Filter", describe(conditions_));
  return note;
}

}  // namespace swizzle::sql
