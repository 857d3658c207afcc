#include "sql-lite-frontend/execute/subquery.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kCardinalityViolation{"21000"};

}  // namespace

void SubqueryExpr::set_plan(PlanPtr plan, std::vector<Slot> outputs) {
  plan_ = std::move(plan);
  outputs_ = std::move(outputs);
}

bool SubqueryExpr::uses_hash() const noexcept {
  // With several columns a NULL in one does not make the comparison unknown if another differs,
  // so only single columns go through the hash.
  return correlation_ == Correlation::none && kind_ == Kind::any && hash_left_.size() == 1;
}

bool SubqueryExpr::is_initial() const noexcept {
  const bool compares = kind_ == Kind::any || kind_ == Kind::all || kind_ == Kind::row;
  return !compares && correlation_ == Correlation::none && further_.empty();
}

std::string SubqueryExpr::name() const {
  return is_initial() ? fmt::format("InitPlan {} (returns ${})", number_, number_ - 1)
                      : fmt::format("SubPlan {}", number_);
}

void SubqueryExpr::set_comparison(ExprPtr comparison, std::vector<ExprPtr> hash_left) {
  comparison_ = std::move(comparison);
  hash_left_ = std::move(hash_left);
  std::vector<TypeId> types;
  for (const ExprPtr& expr : hash_left_) types.push_back(expr->type());
  if (!types.empty()) writer_ = std::make_unique<KeyWriter>(types);
}

void SubqueryExpr::for_each_operand(const std::function<void(ExprPtr&)>& visit) {
  if (comparison_) visit(comparison_);
  for (ExprPtr& expr : hash_left_) visit(expr);
}

Value SubqueryExpr::evaluate(Execution& execution) const {
  if (kind_ == Kind::any || kind_ == Kind::all) return quantified(execution);
  if (kind_ == Kind::row) return row(execution);
  if (!is_initial()) return compute(execution);
  if (cached_run_ != execution.run) {
    cache_arena_.reset();
    cached_ = compute(execution).copy_to(cache_arena_);
    cached_run_ = execution.run;
  }
  return cached_;
}

Value SubqueryExpr::compute(Execution& execution) const {
  switch (kind_) {
    case Kind::scalar:
      return scalar(execution);
    case Kind::exists: {
      plan_->open(execution);
      const bool exists = plan_->next(execution);
      plan_->close();
      return Value::from_bool(exists);
    }
    case Kind::array:
      return array(execution);
    case Kind::any:
    case Kind::all:
    case Kind::row:
      break;
  }
  return Value::null();
}

Value SubqueryExpr::scalar(Execution& execution) const {
  plan_->open(execution);
  Value result;
  for (const Slot slot : further_) execution.slots[slot] = Value::null();
  if (plan_->next(execution)) {
    result = execution.slots[outputs_[0]].copy_to(execution.row_arena);
    for (std::size_t i = 0; i < further_.size(); ++i) {
      execution.slots[further_[i]] = execution.slots[outputs_[i + 1]].copy_to(execution.row_arena);
    }
    if (plan_->next(execution)) {
      throw SqlError{kCardinalityViolation,
                     "more than one row returned by a subquery used as an expression"};
    }
  }
  plan_->close();
  return result;
}

/// What the comparison says of the only row; unknown when there is none.
Value SubqueryExpr::row(Execution& execution) const {
  Value result = Value::null();
  plan_->open(execution);
  if (plan_->next(execution)) {
    result = comparison_->eval(execution);
    if (plan_->next(execution)) {
      throw SqlError{kCardinalityViolation,
                     "more than one row returned by a subquery used as an expression"};
    }
  }
  plan_->close();
  return result;
}

Value SubqueryExpr::array(Execution& execution) const {
  // PostgreSQL's list of elements grows by doubling, and cannot to 2^27 of them.
  constexpr std::size_t kMostElements = std::size_t{1} << 26U;
  std::vector<Value> elements;
  MemoryShare share;
  plan_->open(execution);
  while (plan_->next(execution)) {
    if (elements.size() == elements.capacity()) {
      if (elements.size() == kMostElements) {
        throw_error(sqlstate::internal_error, "invalid memory alloc request size {}",
                    2 * kMostElements * sizeof(std::uint64_t));
      }
      const std::size_t wanted = std::max<std::size_t>(64, 2 * elements.size());
      share.set(execution.memory, wanted * sizeof(Value));
      for_bytes(wanted * sizeof(Value), [&] { return elements.reserve(wanted), true; });
    }
    elements.push_back(execution.slots[outputs_[0]].copy_to(execution.row_arena));
  }
  plan_->close();
  return make_array(execution.row_arena, element_type(type()), elements);
}

void SubqueryExpr::fill_hash(Execution& execution) const {
  hash_.clear();
  hash_has_null_ = false;
  plan_->open(execution);
  RowScope scope{execution};
  while (plan_->next(execution)) {
    writer_->clear();
    bool null = false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Value& value = execution.slots[outputs_[i]];
      null |= value.is_null();
      writer_->add(i, value);
    }
    // Rows with a NULL are found by comparing one by one, below.
    if (null) {
      hash_has_null_ = true;
    } else {
      hash_[writer_->key()] = 1;
    }
    scope.rewind();
  }
  plan_->close();
  cached_run_ = execution.run;
}

Value SubqueryExpr::hashed_any(Execution& execution) const {
  if (cached_run_ != execution.run) fill_hash(execution);
  if (hash_.size() == 0 && !hash_has_null_) return Value::from_bool(false);
  writer_->clear();
  for (std::size_t i = 0; i < hash_left_.size(); ++i) {
    const Value value = hash_left_[i]->eval(execution);
    if (value.is_null()) return Value::null();
    writer_->add(i, value);
  }
  if (hash_.find(writer_->key()) != KeyTable::kAbsent) return Value::from_bool(true);
  return hash_has_null_ ? Value::null() : Value::from_bool(false);
}

Value SubqueryExpr::quantified(Execution& execution) const {
  if (uses_hash()) return hashed_any(execution);
  const bool decisive = kind_ == Kind::any;
  bool unknown = false;
  bool decided = false;
  plan_->open(execution);
  const Arena::Mark mark = execution.row_arena.mark();
  while (!decided && plan_->next(execution)) {
    const Value value = comparison_->eval(execution);
    unknown |= value.is_null();
    decided = !value.is_null() && value.as_bool() == decisive;
    execution.row_arena.rewind(mark);
  }
  plan_->close();
  if (decided) return Value::from_bool(decisive);
  return unknown ? Value::null() : Value::from_bool(!decisive);
}

void SubqueryExpr::print(ExprPrinter& printer) const {
  if (printer.columns == ExprPrinter::Columns::slots) {
    printer.out += signature_.empty() ? fmt::format("(SubPlan {})", fmt::ptr(this))
                                      : "(SubPlan " + signature_ + ")";
    return;
  }
  if (is_initial()) {
    printer.out += fmt::format("${}", number_ - 1);
  } else {
    printer.out += fmt::format("({}SubPlan {})", uses_hash() ? "hashed " : "", number_);
  }
}

}  // namespace swizzle::sql
