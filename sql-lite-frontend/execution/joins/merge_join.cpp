#include "sql-lite-frontend/execution/joins/merge_join.h"

#include <utility>

namespace swizzle::sql {

MergeJoin::MergeJoin(JoinKind kind, PlanPtr outer, PlanPtr inner, Keys keys,
                     std::vector<ExprPtr> conditions)
    : JoinOperator(kind, std::move(outer), std::move(inner), std::move(conditions)),
      keys_(std::move(keys)),
      key_(keys_->outer.size()) {
  for (const ExprPtr& key : keys_->outer) compare_.push_back(compare_function(key->type()));
  group_.rows.set_slots(inner_slots());
  ahead_.rows.set_slots(inner_slots());
}

MergeJoin::MergeJoin(const MergeJoin& of, StepCopies& copies)
    : JoinOperator(of, copies), keys_(of.keys_), compare_(of.compare_), key_(of.key_.size()) {
  group_.rows.set_slots(inner_slots());
  ahead_.rows.set_slots(inner_slots());
}

void MergeJoin::Group::start(Execution& execution, std::span<const Value> with) {
  rows.clear();
  arena.count_in(execution.memory);
  arena.reset();
  key.clear();
  for (const Value& value : with) key.push_back(value.copy_to(arena));
  rows.keep(execution);
  is_there = true;
}

void MergeJoin::open(Execution& execution) {
  outer().open(execution);
  inner().open(execution);
  group_.is_there = false;
  ahead_.is_there = false;
  has_begun_ = false;
  leave_outer_row();
}

bool MergeJoin::take_key(Execution& execution, std::span<const ExprPtr> exprs) {
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    key_[i] = exprs[i]->eval(execution);
    if (key_[i].is_null()) return false;
  }
  return true;
}

int MergeJoin::compare_with_key(std::span<const Value> other) const {
  for (std::size_t i = 0; i < key_.size(); ++i) {
    const int order = compare_[i](other[i], key_[i]);
    if (order != 0) return order;
  }
  return 0;
}

void MergeJoin::read_ahead(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  ahead_.is_there = false;
  while (!ahead_.is_there && inner().next(execution)) {
    if (take_key(execution, keys_->inner)) ahead_.start(execution, key_);
    execution.row_arena.rewind(mark);
  }
}

void MergeJoin::next_group(Execution& execution) {
  std::swap(group_, ahead_);
  ahead_.is_there = false;
  if (!group_.is_there) return;
  const Arena::Mark mark = execution.row_arena.mark();
  while (!ahead_.is_there && inner().next(execution)) {
    if (take_key(execution, keys_->inner)) {
      if (compare_with_key(group_.key) == 0) {
        group_.rows.keep(execution);
      } else {
        ahead_.start(execution, key_);
      }
    }
    execution.row_arena.rewind(mark);
  }
}

void MergeJoin::come_to(Execution& execution) {
  if (!std::exchange(has_begun_, true)) {
    read_ahead(execution);
    next_group(execution);
  }
  position_ = 0;
  bool is_found = false;
  while (group_.is_there && take_key(execution, keys_->outer)) {
    const int order = compare_with_key(group_.key);
    is_found = order == 0;
    if (order >= 0) break;
    next_group(execution);
  }
  if (!is_found) position_ = group_.rows.size();
}

bool MergeJoin::next_match(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (position_ < group_.rows.size()) {
    group_.rows.restore(execution, position_++);
    if (matches(execution)) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

void MergeJoin::close() {
  close_inputs();
  for (Group* group : {&group_, &ahead_}) {
    group->rows.release();
    clear_for_next_run(group->arena);
  }
}

PlanNote MergeJoin::note(ExprPrinter::Columns columns) const {
  return note_of("Merge", columns, "Merge Cond", keys_->outer, keys_->inner);
}

}  // namespace swizzle::sql
