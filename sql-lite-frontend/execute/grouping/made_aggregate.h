#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/bound/execution.h"
#include "sql-lite-frontend/bound/routine_call.h"

/// Aggregates that users made: a value that a function takes from row to row.
namespace swizzle::sql {

/// One of the functions that an aggregate is made of: a built-in one, or a routine.
struct AggregateStep {
  const Function* function = nullptr;
  RoutineCallPtr routine;  ///< null: it is built in
  StatePlace place = 0;    ///< of what a call remembers
  std::vector<TypeId> types;
  TypeId result = TypeId::none;
};

/// Steps of a call of such an aggregate. Belongs to the plan, which keeps the objects that it
/// refers to.
struct MadeAggregate {
  CallablePtr callable;
  AggregateStep transition;
  std::optional<AggregateStep> final;
  TypeId state_type = TypeId::none;
  Value initial;  ///< NULL: none

  /// A strict function never sees NULL, and the first row's value is the state then.
  [[nodiscard]] bool skips_nulls() const noexcept { return transition.function->strict; }
};
using MadeAggregatePtr = std::shared_ptr<const MadeAggregate>;

/// The states of one call for many groups.
class MadeStates {
 public:
  void count_in(MemoryAccount* account) { sql::count_in(states_, account); }
  void clear() noexcept {
    clear_for_next_run(states_);
    bytes_ = 0;
  }
  void release() noexcept {
    sql::release(states_);
    bytes_ = 0;
  }
  void add(const MadeAggregate& aggregate);
  /// Pre: no argument is NULL where the aggregate skips such rows.
  void step(const MadeAggregate& aggregate, Execution& execution, std::size_t state,
            std::span<const Value> arguments);
  /// The state may go on after it.
  Value finish(const MadeAggregate& aggregate, Execution& execution, std::size_t state) const;
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return states_.capacity() * sizeof(State) + bytes_;
  }

 private:
  static constexpr std::size_t kFirstBytes = 64;  // most states are small
  struct State {
    [[nodiscard]] std::size_t bytes_held() const noexcept {
      return bytes.reserved_bytes() + spare.reserved_bytes();
    }
    Value value;
    bool is_set = true;  ///< false: no row has come yet
    Arena bytes{kFirstBytes};
    Arena spare{kFirstBytes};  ///< where the next value goes while the old one is read
  };
  static void keep(State& state, const Value& value);

  CountedVector<State> states_;
  std::size_t bytes_ = 0;  ///< of all states' arenas
  std::vector<Value> values_;
};

}  // namespace swizzle::sql
