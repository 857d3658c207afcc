#pragma once

#include <new>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

namespace detail {
template <class State>
State* at(std::byte* memory) noexcept {
  return std::launder(static_cast<State*>(static_cast<void*>(memory)));
}
template <class State>
const State* at(const std::byte* memory) noexcept {
  return std::launder(static_cast<const State*>(static_cast<const void*>(memory)));
}
}  // namespace detail

/// Treatment of rows with a NULL argument.
enum class Nulls : std::uint8_t { skipped, taken };

/// Makes an AggregateFunction from a struct with `void step(FunctionContext&, Arena&, span)`,
/// `Value final(FunctionContext&) const` and optionally `void combine(Arena&, const State&)`.
template <class State>
constexpr AggregateFunction aggregate_of(Nulls nulls = Nulls::skipped) {
  static_assert(std::is_trivially_destructible_v<State> && alignof(State) <= 16);
  AggregateFunction out;
  out.state_bytes = sizeof(State);
  out.init = [](std::byte* state) { new (state) State{}; };
  out.step = [](FunctionContext& context, Arena& arena, std::byte* state,
                std::span<const Value> arguments) {
    detail::at<State>(state)->step(context, arena, arguments);
  };
  out.final = [](FunctionContext& context, const std::byte* state) {
    return detail::at<State>(state)->final(context);
  };
  if constexpr (requires(State& s, Arena& arena, const State& other) { s.combine(arena, other); })
    out.combine = [](FunctionContext&, Arena& arena, std::byte* state, const std::byte* other) {
      detail::at<State>(state)->combine(arena, *detail::at<State>(other));
    };
  out.skips_nulls = nulls == Nulls::skipped;
  return out;
}

}  // namespace swizzle::sql
