#include "sql-lite-frontend/execution/grouping/rank_rows.h"

#include <algorithm>

#include "sql-lite-frontend/execution/steps/step_copies.h"

namespace swizzle::sql {

bool RankRows::can_give(std::span<const WindowCall> calls) noexcept {
  return std::ranges::all_of(calls, [](const WindowCall& call) {
    return call.kind == WindowFunctionKind::row_number || call.kind == WindowFunctionKind::rank ||
           call.kind == WindowFunctionKind::dense_rank;
  });
}

RankRows::RankRows(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
                   std::vector<WindowCall> calls, std::vector<RankCondition> wanted)
    : input_(std::move(input)),
      partition_(std::move(partition)),
      order_(std::move(order)),
      calls_(std::move(calls)),
      wanted_(std::move(wanted)),
      same_partition_(*partition_),
      same_order_(*order_),
      asks_order_(std::ranges::any_of(calls_, [](const WindowCall& call) {
        return call.kind != WindowFunctionKind::row_number;
      })) {}

RankRows::RankRows(const RankRows& of, StepCopies& copies)
    : input_(copies.copy(of.input_)),
      partition_(of.partition_),
      order_(of.order_),
      calls_(of.calls_),
      wanted_(of.wanted_),
      same_partition_(of.same_partition_),
      same_order_(of.same_order_),
      asks_order_(of.asks_order_) {}

void RankRows::open(Execution& execution) {
  keys_arena_.count_in(execution.memory);
  close();
  ended_ = false;
  row_number_ = 0;
  input_->open(execution);
}

/// Computes the numbers of the row in the slots from those of the previous row.
void RankRows::count(Execution& execution) {
  new_keys_.clear();
  for (const SortKey& key : partition_) new_keys_.push_back(key.expr->eval(execution));
  if (asks_order_) {
    for (const SortKey& key : order_) new_keys_.push_back(key.expr->eval(execution));
  }
  const std::size_t ordered_from = partition_.size();
  const bool goes_on = row_number_ > 0 && same_partition_(keys_.data(), new_keys_.data()) == 0;
  const bool is_peer =
      goes_on && asks_order_ &&
      same_order_(keys_.data() + ordered_from, new_keys_.data() + ordered_from) == 0;
  if (!goes_on) {
    row_number_ = 0;
    dense_rank_ = 0;
    held_.assign(wanted_.size(), false);
  }
  ++row_number_;
  if (!is_peer) {
    rank_ = row_number_;
    ++dense_rank_;
  }
  // The stored keys are equal to those of a peer.
  if (is_peer || (goes_on && !asks_order_)) return;
  keys_arena_.reset();
  keys_.clear();
  for (const Value& key : new_keys_) keys_.push_back(key.copy_to(keys_arena_));
}

bool RankRows::is_wanted(Execution& execution) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const bool held = held_[i];
    held_[i] = holds(*wanted_[i].condition, execution);
    if (!held_[i] && (held || !wanted_[i].begins_false)) {
      // The condition stays false to the end of the partition.
      held_[i] = held;
      return false;
    }
  }
  return true;
}

bool RankRows::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (!ended_ && input_->next(execution)) {
    execution.tick();
    count(execution);
    for (const WindowCall& call : calls_) {
      const bool is_rank = call.kind == WindowFunctionKind::rank;
      const bool is_dense = call.kind == WindowFunctionKind::dense_rank;
      execution.slots[call.slot] = Value::from_int(is_rank    ? rank_
                                                   : is_dense ? dense_rank_
                                                              : row_number_);
    }
    if (is_wanted(execution)) return true;
    ended_ = partition_.empty();
    execution.row_arena.rewind(mark);
  }
  return false;
}

void RankRows::close() {
  input_->close();
  keys_.clear();
  new_keys_.clear();
  clear_for_next_run(keys_arena_);
}

std::vector<Slot> RankRows::output_slots() const {
  std::vector<Slot> slots = input_->output_slots();
  for (const WindowCall& call : calls_) slots.push_back(call.slot);
  return slots;
}

PlanNote RankRows::note(ExprPrinter::Columns columns) const {
  PlanNote note{"WindowAgg", {}};
  for (const RankCondition& wanted : wanted_) {
    note.properties.emplace_back("Run Condition", describe(*wanted.condition, columns));
  }
  return note;
}

void RankRows::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  visit_each(partition_, visit);
  visit_each(order_, visit);
  for (RankCondition& wanted : wanted_.change()) visit(wanted.condition);
}

}  // namespace swizzle::sql
