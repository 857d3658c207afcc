#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"

/// Functions of one type, as its file lists them, and templates for functions that all ordered
/// types have.
namespace swizzle::sql {

struct FunctionsOfType {
  std::span<const ScalarEntry> scalars{};
  std::span<const SetEntry> sets{};
  std::span<const AggregateEntry> aggregates{};
};

template <CompareFunction compare, class Test>
Value compare_with(FunctionContext&, std::span<const Value> a) {
  return Value::from_bool(Test{}(compare(a[0], a[1]), 0));
}

/// Two-argument functions behind min() and max(), also callable. Of equal values, returns the
/// second.
template <CompareFunction compare>
Value larger_of(FunctionContext&, std::span<const Value> a) {
  return compare(a[0], a[1]) > 0 ? a[0] : a[1];
}
template <CompareFunction compare>
Value smaller_of(FunctionContext&, std::span<const Value> a) {
  return compare(a[0], a[1]) < 0 ? a[0] : a[1];
}

/// Comparison function (support function 1) of a btree operator class.
template <CompareFunction compare>
Value order_of_two(FunctionContext&, std::span<const Value> a) {
  const int order = compare(a[0], a[1]);
  return Value::from_int(static_cast<int>(order > 0) - static_cast<int>(order < 0));
}

/// State of min() and max(): its bytes are in a buffer that is reused. Of equal values, keeps the
/// later one, unless `Equals` says the first.
enum class Wanted : std::uint8_t { least, greatest };
enum class Equals : std::uint8_t { later, first };
template <CompareFunction compare, Wanted wanted, Equals equals = Equals::later>
struct Extreme {
  Value best;
  std::byte* buffer = nullptr;
  std::size_t capacity = 0;

  void take(Arena& arena, const Value& value) {
    if (!best.is_null()) {
      const int order = compare(value, best);
      const bool worse = wanted == Wanted::least ? order > 0 : order < 0;
      if (worse || (equals == Equals::first && order == 0)) return;
    }
    if (!value.is_bytes()) {
      best = value;
      return;
    }
    const Bytes bytes = value.as_bytes();
    if (bytes.size() > capacity) {
      capacity = std::max<std::size_t>(bytes.size(), capacity * 2);
      buffer = arena.allocate(capacity);
    }
    if (!bytes.empty()) std::memmove(buffer, bytes.data(), bytes.size());
    best = Value::from_bytes({buffer, bytes.size()});
  }
  void step(FunctionContext&, Arena& arena, std::span<const Value> a) { take(arena, a[0]); }
  [[nodiscard]] Value final(FunctionContext& context) const { return best.copy_to(context.arena); }
  void combine(Arena& arena, const Extreme& other) {
    if (!other.best.is_null()) take(arena, other.best);
  }
};

/// The operators = <> < <= > >= of a type. `type`: its name; `compare`: its CompareFunction.
#define SWIZZLE_COMPARISONS_OF(type, compare)                                 \
  {"=(" type "," type ")", &compare_with<compare, std::equal_to<>>},          \
      {"<>(" type "," type ")", &compare_with<compare, std::not_equal_to<>>}, \
      {"<(" type "," type ")", &compare_with<compare, std::less<>>},          \
      {"<=(" type "," type ")", &compare_with<compare, std::less_equal<>>},   \
      {">(" type "," type ")", &compare_with<compare, std::greater<>>}, {     \
    ">=(" type "," type ")", &compare_with<compare, std::greater_equal<>>     \
  }
/// `prefix`: PostgreSQL's prefix before "larger" and "smaller".
#define SWIZZLE_LARGER_SMALLER_OF(prefix, type, compare)       \
  {prefix "larger(" type "," type ")", &larger_of<compare>}, { \
    prefix "smaller(" type "," type ")", &smaller_of<compare>  \
  }
#define SWIZZLE_MIN_MAX_OF(type, compare)                               \
  {"min(" type ")", aggregate_of<Extreme<compare, Wanted::least>>()}, { \
    "max(" type ")", aggregate_of<Extreme<compare, Wanted::greatest>>() \
  }

}  // namespace swizzle::sql
