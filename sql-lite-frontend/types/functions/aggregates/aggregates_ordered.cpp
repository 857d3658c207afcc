#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

/// percentile_cont, percentile_disc and mode: aggregates WITHIN GROUP. Their input is sorted, and
/// follows the direct argument.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Values other than NULL, in the order in which they come.
struct Values {
  Value* values = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  TypeId type = TypeId::none;

  void add(const FunctionContext& context, Arena& arena, const Value& value) {
    if (value.is_null()) return;
    type = context.call.arguments[1];
    if (size == capacity) {
      capacity = std::max<std::size_t>(8, capacity * 2);
      // Neither constructed nor copied at once, which would take too long for one turn.
      void* const room = arena.allocate(capacity * sizeof(Value), alignof(Value));
      auto* grown = static_cast<Value*>(room);
      copy_long(reinterpret_cast<std::byte*>(grown), std::as_bytes(std::span{values, size}));
      values = grown;
    }
    std::construct_at(values + size++, value.copy_to(arena));
  }
};

double require_share(const Value& value) {
  const double share = value.as_float8();
  if (share >= 0 && share <= 1) return share;
  std::string spelled = fmt::format("{:g}", share);
  if (std::isnan(share)) spelled = "NaN";
  if (std::isinf(share)) spelled = share > 0 ? "Infinity" : "-Infinity";
  throw sql_error(sqlstate::numeric_value_out_of_range,
                  "percentile value {} is not between 0 and 1", spelled);
}

/// percentile_disc: returns the first value whose cumulative share of the rows is at least `share`.
Value discrete(FunctionContext&, const Values& sorted, double share) {
  const double row = std::ceil(share * static_cast<double>(sorted.size));
  return sorted.values[row < 1 ? 0 : static_cast<std::size_t>(row) - 1];
}

Value between(FunctionContext& context, TypeId type, const Value& low, const Value& high,
              double part) {
  if (type != TypeId::interval) {
    return Value::from_float8(low.as_float8() + part * (high.as_float8() - low.as_float8()));
  }
  const Interval begin = low.as_interval();
  const Interval more = multiply(subtract(high.as_interval(), begin), part);
  return make_interval(context.arena, add(more, begin));
}

/// The value at that place of the way from the first to the last, between two if need be.
Value continuous(FunctionContext& context, const Values& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size - 1);
  const double low = std::floor(place);
  const double high = std::ceil(place);
  const Value& first = sorted.values[static_cast<std::size_t>(low)];
  if (low == high) return first;
  return between(context, sorted.type, first, sorted.values[static_cast<std::size_t>(high)],
                 place - low);
}

using Percentile = Value (*)(FunctionContext&, const Values&, double);

/// State of the aggregate. Each row has the direct argument first, the same for each row, and the
/// ordered value second.
struct Shared {
  Values sorted;
  Value asked;
  bool any = false;

  void step(FunctionContext& context, Arena& arena, Arguments a) {
    if (!std::exchange(any, true)) asked = a[0].copy_to(arena);
    sorted.add(context, arena, a[1]);
  }
};

template <Percentile percentile>
struct AtShare : Shared {
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (asked.is_null()) return Value::null();
    const double wanted = require_share(asked);
    if (sorted.size == 0) return Value::null();
    return percentile(context, sorted, wanted);
  }
};

/// For an array of fractions, returns an array of the same dimensions.
template <Percentile percentile>
struct AtShares : Shared {
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (asked.is_null() || sorted.size == 0) return Value::null();
    const ArrayView wanted{asked};
    std::vector<Value> found;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Value share = wanted.element(i);
      found.push_back(share.is_null() ? Value::null()
                                      : percentile(context, sorted, require_share(share)));
    }
    std::vector<ArrayDimension> dimensions;
    for (std::size_t i = 0; i < wanted.dimension_count(); ++i) {
      dimensions.push_back(wanted.dimension(i));
    }
    return make_array(context.arena, sorted.type, dimensions, found);
  }
};

/// The value that comes most often; of several the first.
struct Mode {
  Value best;
  Value run;
  std::size_t best_size = 0;
  std::size_t run_size = 0;

  void step(FunctionContext& context, Arena& arena, Arguments a) {
    if (a[0].is_null()) return;
    if (run_size > 0 && compare_values(context.call.arguments[0], run, a[0]) == 0) {
      ++run_size;
    } else {
      run = a[0].copy_to(arena);
      run_size = 1;
    }
    if (run_size > best_size) {
      best = run;
      best_size = run_size;
    }
  }
  [[nodiscard]] Value final(FunctionContext&) const { return best_size > 0 ? best : Value::null(); }
};

constexpr AggregateEntry kEntries[] = {
    {"percentile_disc(float8,anyelement)", aggregate_of<AtShare<&discrete>>(Nulls::taken)},
    {"percentile_disc(_float8,anyelement)", aggregate_of<AtShares<&discrete>>(Nulls::taken)},
    {"percentile_cont(float8,float8)", aggregate_of<AtShare<&continuous>>(Nulls::taken)},
    {"percentile_cont(float8,interval)", aggregate_of<AtShare<&continuous>>(Nulls::taken)},
    {"percentile_cont(_float8,float8)", aggregate_of<AtShares<&continuous>>(Nulls::taken)},
    {"percentile_cont(_float8,interval)", aggregate_of<AtShares<&continuous>>(Nulls::taken)},
    {"mode(anyelement)", aggregate_of<Mode>(Nulls::taken)},
};

}  // namespace

std::span<const AggregateEntry> ordered_aggregates() {
  return kEntries;
}

}  // namespace swizzle::sql
