#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/query_parts.h"
#include "sql-lite-frontend/query/bound/routine_call.h"

/// User-defined aggregates: a state that a transition function updates from row to row.
namespace swizzle::sql {

/// The states of one aggregate call for many groups.
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
  /// Pre: no argument is NULL if the transition function is strict.
  void step(const MadeAggregate& aggregate, Execution& execution, std::size_t state,
            std::span<const Value> arguments);
  /// Returns the result. More rows may be added to the state afterwards.
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
    Arena spare{kFirstBytes};  ///< for the next value while the current one is read
  };
  static void keep(State& state, const Value& value);

  CountedVector<State> states_;
  std::size_t bytes_ = 0;  ///< of all states' arenas
  std::vector<Value> values_;
};

}  // namespace swizzle::sql
