#include <algorithm>

#include "sql-lite-frontend/types/array/accumulate.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// State of string_agg: the first delimiter is ignored, the others precede their values.
struct Joined {
  char* text = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  bool any = false;

  void append(Arena& arena, std::string_view part) {
    if (size + part.size() > kMaxFieldBytes)
      throw SqlError{sqlstate::program_limit_exceeded, "string_agg result is too long"};
    if (size + part.size() > capacity) {
      const std::size_t wanted = std::max<std::size_t>({size + part.size(), capacity * 2, 64});
      auto* grown = reinterpret_cast<char*>(arena.allocate(wanted));
      copy_long(reinterpret_cast<std::byte*>(grown), as_bytes(std::string_view{text, size}));
      text = grown;
      capacity = wanted;
    }
    copy_long(reinterpret_cast<std::byte*>(text + size), as_bytes(part));
    size += part.size();
  }
  void step(FunctionContext&, Arena& arena, Arguments a) {
    if (a[0].is_null()) return;
    if (any && !a[1].is_null()) append(arena, a[1].as_text());
    append(arena, a[0].as_text());
    any = true;
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (!any) return Value::null();
    std::byte* const out = context.arena.allocate(size, 1);
    copy_long(out, as_bytes(std::string_view{text, size}));
    return Value::from_bytes({out, size});
  }
};

/// State of any_value: the first value that is not NULL.
struct FirstValue {
  Value first;

  void step(FunctionContext&, Arena& arena, Arguments a) {
    if (first.is_null()) first = a[0].copy_to(arena);
  }
  [[nodiscard]] Value final(FunctionContext& context) const { return first.copy_to(context.arena); }
  void combine(Arena& arena, const FirstValue& other) {
    if (first.is_null()) first = other.first.copy_to(arena);
  }
};

/// Copies of all values, NULLs included.
struct Collected {
  Value* values = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  TypeId type = TypeId::none;

  void add(FunctionContext& context, Arena& arena, const Value& value) {
    type = context.call.arguments[0];
    if (size == capacity) {
      capacity = std::max<std::size_t>(8, capacity * 2);
      // Not constructed: that would touch the whole allocation at once.
      void* const room = arena.allocate(capacity * sizeof(Value), alignof(Value));
      auto* grown = static_cast<Value*>(room);
      copy_long(reinterpret_cast<std::byte*>(grown), std::as_bytes(std::span{values, size}));
      values = grown;
    }
    std::construct_at(values + size++, value.copy_to(arena));
  }
};

struct ElementArray : Collected {
  void step(FunctionContext& context, Arena& arena, Arguments a) { add(context, arena, a[0]); }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (size == 0) return Value::null();
    return make_array(context.arena, type, {values, size});
  }
};

struct ArrayOfArrays : Collected {
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    require_accumulable(size > 0 ? values : nullptr, a[0]);
    add(context, arena, a[0]);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (size == 0) return Value::null();
    return array_of_arrays(context.arena, element_type(type), {values, size});
  }
};

constexpr AggregateEntry kAggregatesCollectingEntries[] = {
    {"any_value(anyelement)", aggregate_of<FirstValue>()},
    {"string_agg(text,text)", aggregate_of<Joined>(Nulls::taken)},
    {"string_agg(bytea,bytea)", aggregate_of<Joined>(Nulls::taken)},
    {"array_agg(anynonarray)", aggregate_of<ElementArray>(Nulls::taken)},
    {"array_agg(anyarray)", aggregate_of<ArrayOfArrays>(Nulls::taken)},
};

}  // namespace

std::span<const AggregateEntry> collecting_aggregates() {
  return kAggregatesCollectingEntries;
}

}  // namespace swizzle::sql
