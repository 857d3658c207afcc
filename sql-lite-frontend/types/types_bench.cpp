#include <benchmark/benchmark.h>

#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

struct Fixture {
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
};

void call_int4_plus(benchmark::State& state) {
  Fixture f;
  const auto op = resolve_operator("+", TypeId::int4, TypeId::int4);
  Value arguments[2] = {Value::from_int(1), Value::from_int(2)};
  for (auto step : state) {
    arguments[0] = op.op->function->scalar(f.context, std::span<const Value>{arguments, 2});
    if (arguments[0].as_int4() > 1'000'000) arguments[0] = Value::from_int(1);
    benchmark::DoNotOptimize(arguments);
  }
}
BENCHMARK(call_int4_plus);

void numeric_add_small(benchmark::State& state) {
  Fixture f;
  const Value step_by = Value::from_decimal(125, 2);
  Value sum = Value::from_decimal(0, 4);
  for (auto step : state) {
    sum = numeric_add(f.arena, sum, step_by);
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(numeric_add_small);

void numeric_divide_small(benchmark::State& state) {
  Fixture f;
  const Value left = Value::from_decimal(1234567, 2);
  const Value right = Value::from_decimal(789, 2);
  for (auto step : state) benchmark::DoNotOptimize(numeric_divide(f.arena, left, right));
}
BENCHMARK(numeric_divide_small);

void numeric_sum_small(benchmark::State& state) {
  Fixture f;
  NumericSum sum;
  const Value value = Value::from_decimal(125, 2);
  for (auto step : state) {
    sum.add(f.arena, value);
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(numeric_sum_small);

/// Measures a row like pgbench_accounts': three integers and 84 characters.
void read_third_column(benchmark::State& state) {
  const TypeId types[] = {TypeId::int4, TypeId::int4, TypeId::int4, TypeId::bpchar};
  const RowLayout layout{types};
  const std::string filler(84, ' ');
  const Value values[] = {Value::from_int(1), Value::from_int(2), Value::from_int(3),
                          Value::from_text(filler)};
  std::string row;
  append_row(row, layout, values);
  for (auto step : state) {
    const RowReader reader{layout, as_bytes(row)};
    benchmark::DoNotOptimize(reader.column(2));
  }
}
BENCHMARK(read_third_column);

void write_row(benchmark::State& state) {
  const TypeId types[] = {TypeId::int4, TypeId::int4, TypeId::int4, TypeId::bpchar};
  const RowLayout layout{types};
  const std::string filler(84, ' ');
  const Value values[] = {Value::from_int(1), Value::from_int(2), Value::from_int(3),
                          Value::from_text(filler)};
  std::string row;
  for (auto step : state) {
    row.clear();
    append_row(row, layout, values);
    benchmark::DoNotOptimize(row.data());
  }
}
BENCHMARK(write_row);

void key_of_two_integers(benchmark::State& state) {
  const KeyColumn column{TypeId::int4, SortDirection::ascending, NullsOrder::absent};
  std::string key;
  std::int64_t number = 0;
  for (auto step : state) {
    key.clear();
    append_key(key, column, Value::from_int(number));
    append_key(key, column, Value::from_int(++number & 0xffff));
    benchmark::DoNotOptimize(key.data());
  }
}
BENCHMARK(key_of_two_integers);

void resolve_lower(benchmark::State& state) {
  const TypeId types[] = {TypeId::varchar};
  for (auto step : state) benchmark::DoNotOptimize(resolve_function({"lower", types}).function);
}
BENCHMARK(resolve_lower);

void timestamptz_text(benchmark::State& state) {
  Fixture f;
  std::string out;
  for (auto step : state) {
    f.arena.reset();
    out.clear();
    const Value value =
        input_text(f.context, TypeId::timestamptz, kNoTypmod, "2024-02-29 12:34:56.789+01");
    output_text(f.context, TypeId::timestamptz, value, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(timestamptz_text);

}  // namespace
}  // namespace swizzle::sql

BENCHMARK_MAIN();
