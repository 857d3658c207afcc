#include "sql-lite-frontend/query/bound/subquery.h"

#include <algorithm>

#include "sql-lite-frontend/execution/rows/key_runs.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/types/array/accumulate.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kCardinalityViolation{"21000"};

}  // namespace

void SubqueryExpr::set_plan(PlanPtr plan, std::vector<Slot> outputs) {
  plan_ = std::move(plan);
  outputs_ = std::move(outputs);
  run_ = &SubqueryExpr::run;
}

/// State of one run.
struct SubqueryExpr::Run final : ExpressionState {
  PlanPtr copy;                  ///< null: the plan's own steps run
  PlanOperator* plan = nullptr;  ///< null: it has not been asked yet
  std::uint64_t cached_run = 0;
  Value cached;
  Arena cache_arena;
  std::unique_ptr<KeyWriter> writer;
  KeyTable hash;
  KeyRuns hash_overflow;  ///< keys beyond the memory limit
  bool hash_has_null = false;

  void add_key(Execution& execution) {
    const WorkMemory* memory = execution.memory;
    const bool is_full =
        memory->files != nullptr && hash.size() > 0 && hash.held_bytes() > memory->hash_bytes();
    if (is_full && hash.find(writer->key()) == KeyTable::kAbsent) {
      hash_overflow.add(execution, writer->key());
    } else {
      hash[writer->key()] = 1;
    }
  }
  [[nodiscard]] bool has_key() {
    return hash.find(writer->key()) != KeyTable::kAbsent || hash_overflow.contains(writer->key());
  }
  void end_run() noexcept override {
    hash.clear();
    hash_overflow.clear();
    clear_for_next_run(cache_arena);
    cached_run = 0;
  }
};

SubqueryExpr::Run& SubqueryExpr::run_in(Execution& execution) const {
  Run& run = execution.state_of<Run>(place_);
  if (run.plan != nullptr) [[likely]]
    return run;
  if (execution.names != nullptr) run.copy = StepCopies{execution}.copy(plan_);
  run.plan = run.copy ? run.copy.get() : plan_.get();
  if (!hash_left_.empty()) run.writer = std::make_unique<KeyWriter>(expression_types(hash_left_));
  return run;
}

Value SubqueryExpr::run(Execution& execution) const {
  Run& run = run_in(execution);
  if (kind_ == Kind::any || kind_ == Kind::all) return quantified(execution, run);
  if (kind_ == Kind::row) return row(execution, *run.plan);
  if (!is_initial()) return compute(execution, run);
  if (run.cached_run != execution.run) {
    run.cache_arena.count_in(execution.memory);
    run.cache_arena.reset();
    run.cached = compute(execution, run).copy_to(run.cache_arena);
    run.cached_run = execution.run;
  }
  return run.cached;
}

Value SubqueryExpr::compute(Execution& execution, Run& run) const {
  switch (kind_) {
    case Kind::scalar:
      return scalar(execution, *run.plan);
    case Kind::exists: {
      run.plan->open(execution);
      const bool exists = run.plan->next(execution);
      run.plan->close();
      return Value::from_bool(exists);
    }
    case Kind::array:
    case Kind::arrays:
      return array(execution, *run.plan);
    case Kind::any:
    case Kind::all:
    case Kind::row:
      break;
  }
  return Value::null();
}

Value SubqueryExpr::scalar(Execution& execution, PlanOperator& plan) const {
  plan.open(execution);
  Value result;
  for (const Slot slot : further_) execution.slots[slot] = Value::null();
  if (plan.next(execution)) {
    result = execution.slots[outputs_[0]].copy_to(execution.row_arena);
    for (std::size_t i = 0; i < further_.size(); ++i) {
      execution.slots[further_[i]] = execution.slots[outputs_[i + 1]].copy_to(execution.row_arena);
    }
    if (plan.next(execution)) {
      throw SqlError{kCardinalityViolation,
                     "more than one row returned by a subquery used as an expression"};
    }
  }
  plan.close();
  return result;
}

/// Returns the comparison with the only row; unknown if there is none.
Value SubqueryExpr::row(Execution& execution, PlanOperator& plan) const {
  Value result = Value::null();
  plan.open(execution);
  if (plan.next(execution)) {
    result = comparison_->eval(execution);
    if (plan.next(execution)) {
      throw SqlError{kCardinalityViolation,
                     "more than one row returned by a subquery used as an expression"};
    }
  }
  plan.close();
  return result;
}

Value SubqueryExpr::array(Execution& execution, PlanOperator& plan) const {
  // PostgreSQL's list of elements grows by doubling, and cannot to 2^27 of them.
  constexpr std::size_t kMostElements = std::size_t{1} << 26U;
  CountedValues elements = counted_values(execution.row_arena);
  plan.open(execution);
  while (plan.next(execution)) {
    if (elements.size() == elements.capacity()) {
      if (elements.size() == kMostElements) {
        throw_error(sqlstate::internal_error, "invalid memory alloc request size {}",
                    2 * kMostElements * sizeof(std::uint64_t));
      }
      const std::size_t wanted = std::max<std::size_t>(64, 2 * elements.size());
      for_bytes(wanted * sizeof(Value), [&] { return elements.reserve(wanted), true; });
    }
    const Value& value = execution.slots[outputs_[0]];
    if (kind_ == Kind::arrays)
      require_accumulable(elements.empty() ? nullptr : &elements.front(), value);
    elements.push_back(value.copy_to(execution.row_arena));
  }
  plan.close();
  if (kind_ == Kind::arrays && !elements.empty())
    return array_of_arrays(execution.row_arena, element_type(type()), elements);
  return make_array(execution.row_arena, element_type(type()), elements);
}

void SubqueryExpr::fill_hash(Execution& execution, Run& run) const {
  run.hash.clear();
  run.hash_overflow.clear();
  run.hash.count_in(execution.memory);
  run.hash_has_null = false;
  run.plan->open(execution);
  RowScope scope{execution};
  while (run.plan->next(execution)) {
    run.writer->clear();
    bool null = false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Value& value = execution.slots[outputs_[i]];
      null |= value.is_null();
      run.writer->add(i, value);
    }
    // Rows with a NULL are found by comparing one by one, below.
    if (null) {
      run.hash_has_null = true;
    } else {
      run.add_key(execution);
    }
    scope.rewind();
  }
  run.plan->close();
  run.hash_overflow.finish(execution);
  run.cached_run = execution.run;
}

Value SubqueryExpr::hashed_any(Execution& execution, Run& run) const {
  if (run.cached_run != execution.run) fill_hash(execution, run);
  if (run.hash.size() == 0 && !run.hash_has_null) return Value::from_bool(false);
  run.writer->clear();
  bool has_null = false;
  for (std::size_t i = 0; i < hash_left_.size(); ++i) {
    const Value value = hash_left_[i]->eval(execution);
    has_null |= value.is_null();
    run.writer->add(i, value);
  }
  if (!has_null && run.has_key()) return Value::from_bool(true);
  if (!has_null && !run.hash_has_null) return Value::from_bool(false);
  // A NULL on one side makes the result unknown only for rows whose other columns are equal.
  return hash_left_.size() == 1 ? Value::null() : compared(execution, run);
}

Value SubqueryExpr::quantified(Execution& execution, Run& run) const {
  return uses_hash() ? hashed_any(execution, run) : compared(execution, run);
}

Value SubqueryExpr::compared(Execution& execution, Run& run) const {
  const bool decisive = kind_ == Kind::any;
  bool unknown = false;
  bool decided = false;
  run.plan->open(execution);
  const Arena::Mark mark = execution.row_arena.mark();
  while (!decided && run.plan->next(execution)) {
    const Value value = comparison_->eval(execution);
    unknown |= value.is_null();
    decided = !value.is_null() && value.as_bool() == decisive;
    execution.row_arena.rewind(mark);
  }
  run.plan->close();
  if (decided) return Value::from_bool(decisive);
  return unknown ? Value::null() : Value::from_bool(!decisive);
}

}  // namespace swizzle::sql
