#include "sql-lite-frontend/execution/sorting/leading_rows.h"

#include <algorithm>

#include "sql-lite-frontend/execution/steps/step_copies.h"

namespace swizzle::sql {
namespace {

// Beyond this, the filter costs more than the sort that it saves.
constexpr std::int64_t kMostWanted = 1000;
constexpr std::size_t kRowsBetweenLooks = 4096;

std::vector<TypeId> types_of(std::span<const SortKey> keys) {
  std::vector<TypeId> types;
  for (const SortKey& key : keys) types.push_back(key.expr->type());
  return types;
}

}  // namespace

LeadingRows::LeadingRows(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
                         ExprPtr last_number)
    : input_(std::move(input)),
      partition_(std::move(partition)),
      order_(std::move(order)),
      last_number_(std::move(last_number)),
      head_(*order_),
      partitions_(types_of(*partition_)) {}

LeadingRows::LeadingRows(const LeadingRows& of, StepCopies& copies)
    : input_(copies.copy(of.input_)),
      partition_(of.partition_),
      order_(of.order_),
      last_number_(of.last_number_),
      head_(of.head_),
      partitions_(types_of(*partition_)) {}

void LeadingRows::open(Execution& execution) {
  partitions_.count_in(execution.memory);
  count_in(counts_, execution.memory);
  count_in(heads_, execution.memory);
  let_all_through();
  const Value last = (*last_number_)->eval(execution);
  const std::int64_t number = last.is_null() ? 0 : last.as_int8();
  if (number >= 1 && number <= kMostWanted) wanted_ = static_cast<std::size_t>(number);
  seen_ = 0;
  dropped_ = 0;
  input_->open(execution);
}

bool LeadingRows::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (input_->next(execution)) {
    execution.tick();
    if (wanted_ == 0 || may_lead(execution)) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

/// Returns true if the row in the slots may be wanted; stores its sort head.
bool LeadingRows::may_lead(Execution& execution) {
  if (++seen_ % kRowsBetweenLooks == 0 && !is_worth_it(execution)) {
    let_all_through();
    return true;
  }
  partitions_.start();
  for (std::size_t i = 0; i < partition_.size(); ++i) {
    partitions_.add(i, partition_[i].expr->eval(execution));
  }
  std::uint32_t& partition = partitions_.place();
  if (partition == ValueTable::kAbsent) {
    partition = static_cast<std::uint32_t>(counts_.size());
    counts_.push_back(0);
    heads_.resize(heads_.size() + wanted_);
  }
  const Value first = order_[0].expr->eval(execution);
  const std::uint64_t head =
      head_.of(first, head_.reads_two() ? order_[1].expr->eval(execution) : first);
  const auto begin = heads_.begin() + static_cast<std::ptrdiff_t>(partition * wanted_);
  std::uint32_t& count = counts_[partition];
  if (count < wanted_) {
    begin[count++] = head;
    std::push_heap(begin, begin + count);
    return true;
  }
  if (head > *begin) {
    ++dropped_;
    return false;
  }
  if (head == *begin) return true;
  std::pop_heap(begin, begin + count);
  begin[count - 1] = head;
  std::push_heap(begin, begin + count);
  return true;
}

bool LeadingRows::is_worth_it(const Execution& execution) const {
  const std::size_t held = partitions_.held_bytes() + heads_.capacity() * sizeof(std::uint64_t) +
                           counts_.capacity() * sizeof(std::uint32_t);
  if (held > execution.memory->work_bytes / 4) return false;
  // Judged only once partitions have on average far more rows than are wanted.
  return seen_ / 8 < heads_.size() || dropped_ > seen_ / 8;
}

void LeadingRows::let_all_through() {
  wanted_ = 0;
  partitions_.release();
  release(counts_);
  release(heads_);
}

void LeadingRows::close() {
  input_->close();
  let_all_through();
}

PlanNote LeadingRows::note(ExprPrinter::Columns columns) const {
  return {"Partition Limit", {{"Limit", describe(**last_number_, columns)}}};
}

void LeadingRows::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  visit_each(partition_, visit);
  visit_each(order_, visit);
  visit(last_number_.change());
}

}  // namespace swizzle::sql
