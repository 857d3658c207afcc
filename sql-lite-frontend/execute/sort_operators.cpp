#include "sql-lite-frontend/execute/sort_operators.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

RowComparison::RowComparison(std::span<const SortKey> keys) {
  for (const SortKey& key : keys) {
    const CompareFunction compare = compare_function(key.expr->type());
    if (compare == nullptr) {
      throw sql_error(sqlstate::undefined_function,
                      "could not identify an ordering operator for type {}",
                      format_type(key.expr->type()))
          .with_hint("Use an explicit ordering operator or modify the query.");
    }
    columns_.push_back({compare, key.direction, key.nulls});
  }
}

int RowComparison::operator()(const Value* left, const Value* right) const {
  for (const Column& column : columns_) {
    const Value& a = *left++;
    const Value& b = *right++;
    if (a.is_null() || b.is_null()) {
      if (a.is_null() && b.is_null()) continue;
      return a.is_null() == (column.nulls == NullsOrder::first) ? -1 : 1;
    }
    const int order = column.compare(a, b);
    if (order != 0) return column.direction == SortDirection::descending ? -order : order;
  }
  return 0;
}

Sort::Sort(PlanPtr input, std::vector<SortKey> keys)
    : input_(std::move(input)), keys_(std::move(keys)), comparison_(keys_) {}

std::size_t Sort::bound(Execution& execution) const {
  if (bound_count_ == nullptr) return std::numeric_limits<std::size_t>::max();
  const Value count = bound_count_->eval(execution);
  if (count.is_null() || count.as_int8() < 0) return std::numeric_limits<std::size_t>::max();
  std::int64_t rows = count.as_int8();
  if (bound_offset_ != nullptr) {
    const Value offset = bound_offset_->eval(execution);
    if (!offset.is_null() && offset.as_int8() > 0) {
      if (__builtin_add_overflow(rows, offset.as_int8(), &rows)) {
        return std::numeric_limits<std::size_t>::max();
      }
    }
  }
  return static_cast<std::size_t>(rows);
}

void Sort::keep_row(Execution& execution) {
  for (const SortKey& key : keys_) {
    key_values_.push_back(key.expr->eval(execution).copy_to(store_.arena()));
  }
  order_.push_back(static_cast<std::uint32_t>(store_.keep(execution)));
}

void Sort::open(Execution& execution) {
  store_.clear();
  store_.set_slots(input_->output_slots());
  key_values_.clear();
  order_.clear();
  position_ = 0;
  const std::size_t wanted = bound(execution);
  const std::size_t width = keys_.size();
  const auto before = [&](std::uint32_t left, std::uint32_t right) {
    const int order =
        comparison_(key_values_.data() + left * width, key_values_.data() + right * width);
    // Rows arrive numbered, so equal keys keep their order.
    return order != 0 ? order < 0 : left < right;
  };
  input_->open(execution);
  RowScope scope{execution};
  while (wanted > 0 && input_->next(execution)) {
    keep_row(execution);
    scope.rewind();
    // With a bound the worst row is at the heap's front and leaves when there is one too many. The
    // kept memory of rows that left is the price; it is bounded by what the input has.
    if (wanted != std::numeric_limits<std::size_t>::max()) {
      std::ranges::push_heap(order_, before);
      if (order_.size() > wanted) {
        std::ranges::pop_heap(order_, before);
        order_.pop_back();
      }
    }
  }
  input_->close();
  std::ranges::sort(order_, before);
}

bool Sort::next(Execution& execution) {
  if (position_ == order_.size()) return false;
  execution.tick();
  store_.restore(execution, order_[position_++]);
  return true;
}

void Sort::close() {
  input_->close();
  store_.clear();
  key_values_.clear();
  order_.clear();
  position_ = 0;
}

namespace {

std::vector<TypeId> types_of(std::span<const ExprPtr> exprs) {
  std::vector<TypeId> types;
  for (const ExprPtr& expr : exprs) types.push_back(expr->type());
  return types;
}

}  // namespace

Distinct::Distinct(PlanPtr input, std::vector<ExprPtr> keys)
    : input_(std::move(input)), keys_(std::move(keys)), writer_(types_of(keys_)) {}

void Distinct::open(Execution& execution) {
  seen_.clear();
  input_->open(execution);
}

bool Distinct::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (input_->next(execution)) {
    writer_.clear();
    for (std::size_t i = 0; i < keys_.size(); ++i) writer_.add(i, keys_[i]->eval(execution));
    std::uint32_t& seen = seen_[writer_.key()];
    if (seen == KeyTable::kAbsent) {
      seen = 1;
      return true;
    }
    execution.row_arena.rewind(mark);
  }
  return false;
}

void Distinct::close() {
  input_->close();
  seen_.clear();
}

SetOperation::SetOperation(Kind kind, PlanPtr left, std::vector<Slot> left_slots, PlanPtr right,
                           std::vector<Slot> right_slots, std::vector<TypeId> types)
    : kind_(kind),
      left_(std::move(left)),
      left_slots_(std::move(left_slots)),
      right_(std::move(right)),
      right_slots_(std::move(right_slots)),
      writer_(types) {}

void SetOperation::write_key(const Execution& execution, std::span<const Slot> slots) {
  writer_.clear();
  for (std::size_t i = 0; i < slots.size(); ++i) writer_.add(i, execution.slots[slots[i]]);
}

void SetOperation::open(Execution& execution) {
  counts_.clear();
  right_->open(execution);
  RowScope scope{execution};
  while (right_->next(execution)) {
    write_key(execution, right_slots_);
    std::uint32_t& count = counts_[writer_.key()];
    count = count == KeyTable::kAbsent ? 1 : count + 1;
    scope.rewind();
  }
  right_->close();
  left_->open(execution);
}

bool SetOperation::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (left_->next(execution)) {
    write_key(execution, left_slots_);
    std::uint32_t& count = counts_[writer_.key()];
    bool wanted = false;
    switch (kind_) {
      case Kind::intersect:
        // Count 0 marks what was returned already.
        wanted = count != KeyTable::kAbsent && count > 0;
        if (wanted) count = 0;
        break;
      case Kind::intersect_all:
        wanted = count != KeyTable::kAbsent && count > 0;
        if (wanted) --count;
        break;
      case Kind::except:
        wanted = count == KeyTable::kAbsent;
        count = 0;
        break;
      case Kind::except_all:
        wanted = count == KeyTable::kAbsent || count == 0;
        if (!wanted) --count;
        break;
    }
    if (wanted) return true;
    execution.row_arena.rewind(mark);
  }
  return false;
}

void SetOperation::close() {
  left_->close();
  right_->close();
  counts_.clear();
}

PlanNote SetOperation::note() const {
  const bool intersect = kind_ == Kind::intersect || kind_ == Kind::intersect_all;
  const bool all = kind_ == Kind::intersect_all || kind_ == Kind::except_all;
  return {std::string{"HashSetOp "} + (intersect ? "Intersect" : "Except") + (all ? " All" : ""),
          {}};
}

}  // namespace swizzle::sql
