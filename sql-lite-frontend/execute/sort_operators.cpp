#include "sql-lite-frontend/execute/sort_operators.h"

#include <algorithm>

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
  counts_.count_in(execution.memory);
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

PlanNote SetOperation::note(ExprPrinter::Columns /*columns*/) const {
  const bool intersect = kind_ == Kind::intersect || kind_ == Kind::intersect_all;
  const bool all = kind_ == Kind::intersect_all || kind_ == Kind::except_all;
  return {std::string{"HashSetOp "} + (intersect ? "Intersect" : "Except") + (all ? " All" : ""),
          {}};
}

}  // namespace swizzle::sql
