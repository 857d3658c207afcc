#include "sql-lite-frontend/execution/grouping/made_aggregate.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {
namespace {

Value call_step(const AggregateStep& step, Execution& execution, std::span<const Value> values) {
  if (step.function->strict && std::ranges::any_of(values, &Value::is_null)) return Value::null();
  if (step.routine && step.function->scalar == nullptr) {
    return execution.services.call_routine(execution, *step.routine, step.place, values);
  }
  execution.functions.call = {step.types, step.result};
  return call_function(*step.function, execution.functions, values);
}

}  // namespace

void MadeStates::add(const MadeAggregate& aggregate) {
  State& state = states_.emplace_back();
  MemoryAccount* const account = states_.get_allocator().account();
  state.bytes.count_in(account);
  state.spare.count_in(account);
  state.value = aggregate.initial.copy_to(state.bytes);
  state.is_set = !aggregate.initial.is_null() || !aggregate.skips_nulls();
  bytes_ += state.bytes_held();
}

void MadeStates::keep(State& state, const Value& value) {
  if (!value.is_bytes()) {
    state.value = value;
    return;
  }
  // A growing state is copied for every row: count that as work.
  count_bytes(value.as_bytes().size());
  state.spare.reset();
  state.value = value.copy_to(state.spare);
  std::swap(state.bytes, state.spare);
}

void MadeStates::step(const MadeAggregate& aggregate, Execution& execution, std::size_t state,
                      std::span<const Value> arguments) {
  State& own = states_[state];
  const RowScope scope{execution};
  const std::size_t before = own.bytes_held();
  if (!own.is_set) {
    own.is_set = true;
    keep(own, arguments[0]);
  } else {
    values_.assign(1, own.value);
    values_.insert(values_.end(), arguments.begin(), arguments.end());
    keep(own, call_step(aggregate.transition, execution, values_));
  }
  bytes_ += own.bytes_held() - before;
}

Value MadeStates::finish(const MadeAggregate& aggregate, Execution& execution,
                         std::size_t state) const {
  const State& own = states_[state];
  const Value value = own.is_set ? own.value : Value::null();
  if (!aggregate.final) return value;
  // FINALFUNC_EXTRA: pass the aggregate's arguments as NULLs, for their types alone.
  std::vector<Value> values(aggregate.final->types.size());
  values[0] = value;
  return call_step(*aggregate.final, execution, values);
}

}  // namespace swizzle::sql
