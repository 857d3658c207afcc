#include "sql-lite-frontend/types/numeric/numeric.h"

#include <catch2/catch.hpp>
#include <random>

#include "sql-lite-frontend/types/numeric/int128.h"
#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string show(const Value& value) {
  std::string out;
  append_numeric(out, value);
  return out;
}

std::string show(Int128 value) {
  if (value == 0) return "0";
  std::string out;
  const bool negative = value < 0;
  for (; value != 0; value /= 10)
    out.insert(out.begin(), static_cast<char>('0' + (value % 10 < 0 ? -(value % 10) : value % 10)));
  return negative ? "-" + out : out;
}

std::int64_t any_number(std::mt19937_64& random) {
  const auto bits = static_cast<std::int64_t>(random());
  return bits >> (random() % 64);
}

}  // namespace

TEST_CASE("integers compute as 128-bit arithmetic does", "[types][numeric]") {
  std::mt19937_64 random{99};
  INFO("seed 99");
  Arena arena;
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t a = any_number(random);
    const std::int64_t b = any_number(random);
    const Value x = numeric_from_int(a);
    const Value y = numeric_from_int(b);
    INFO(a << " and " << b);
    CHECK(show(numeric_add(arena, x, y)) == show(Int128{a} + b));
    CHECK(show(numeric_subtract(arena, x, y)) == show(Int128{a} - b));
    CHECK(show(numeric_multiply(arena, x, y)) == show(Int128{a} * b));
    CHECK(numeric_compare(x, y) == (a > b) - (a < b));
    if (b == 0) continue;
    CHECK(show(numeric_divide_truncated(arena, x, y)) == show(Int128{a} / b));
    CHECK(show(numeric_modulo(arena, x, y)) == show(Int128{a} % b));
  }
}

TEST_CASE("the small and the long form agree", "[types][numeric]") {
  std::mt19937_64 random{5};
  INFO("seed 5");
  Arena arena;
  for (int round = 0; round < 2000; ++round) {
    const Value x =
        Value::from_decimal(any_number(random), static_cast<std::uint32_t>(random() % 19));
    const Value y =
        Value::from_decimal(any_number(random), static_cast<std::uint32_t>(random() % 19));
    INFO(show(x) << " and " << show(y));
    CHECK(show(from_decimal(arena, to_decimal(x))) == show(x));
    CHECK(show(numeric_add(arena, x, y)) ==
          show(from_decimal(arena, add(to_decimal(x), to_decimal(y)))));
    CHECK(show(numeric_subtract(arena, x, y)) ==
          show(from_decimal(arena, subtract(to_decimal(x), to_decimal(y)))));
    CHECK(show(numeric_multiply(arena, x, y)) ==
          show(from_decimal(arena, multiply(to_decimal(x), to_decimal(y)))));
    CHECK(numeric_compare(x, y) == compare(to_decimal(x), to_decimal(y)));
    const int scale = static_cast<int>(random() % 20) - 2;
    Decimal rounded = to_decimal(x);
    rounded.round(scale);
    CHECK(show(numeric_round(arena, x, scale)) == show(from_decimal(arena, rounded)));
    if (y.decimal_unscaled() == 0) continue;
    const Value quotient = numeric_divide(arena, x, y);
    CHECK(show(quotient) ==
          show(from_decimal(arena, divide(to_decimal(x), to_decimal(y), numeric_scale(quotient)))));
  }
}

TEST_CASE("division times divisor plus remainder is the dividend", "[types][numeric]") {
  std::mt19937_64 random{11};
  INFO("seed 11");
  Arena arena;
  const auto make = [&](std::size_t digits) {
    std::string text;
    for (std::size_t i = 0; i <= digits; ++i) text += static_cast<char>('0' + random() % 10);
    return numeric_from_text(arena, text);
  };
  for (int round = 0; round < 500; ++round) {
    const Value a = make(random() % 120);
    const Value b = make(random() % 60);
    if (numeric_sign(b) == 0) continue;
    const Value q = numeric_divide_truncated(arena, a, b);
    const Value r = numeric_modulo(arena, a, b);
    INFO(show(a) << " / " << show(b));
    CHECK(numeric_compare(numeric_add(arena, numeric_multiply(arena, q, b), r), a) == 0);
    CHECK(numeric_compare(r, b) < 0);
    CHECK(numeric_sign(r) >= 0);
  }
}

TEST_CASE("numeric text and binary forms round trip", "[types][numeric]") {
  Arena arena;
  for (const char* text :
       {"0", "0.00", "1", "-1.50", "123456789012345678", "-99999999999999999999.000001", "NaN",
        "Infinity", "-Infinity", "0.000000000000000000000000000001", "10000", "9999.9999"}) {
    const Value value = numeric_from_text(arena, text);
    CHECK(show(value) == text);
    std::string wire;
    numeric_send(value, wire);
    CHECK(show(numeric_receive(arena, as_bytes(wire))) == text);
    for (std::size_t cut = 0; cut < wire.size(); ++cut)
      CHECK_THROWS_AS(numeric_receive(arena, as_bytes(wire).first(cut)), SqlError);
  }
}

TEST_CASE("infinities have PostgreSQL's bytes", "[types][numeric]") {
  Arena arena;
  const auto sent = [&](const char* text) {
    std::string wire;
    numeric_send(numeric_from_text(arena, text), wire);
    return wire;
  };
  CHECK(sent("NaN") == std::string("\0\0\0\0\xc0\0\0\0", 8));
  CHECK(sent("Infinity") == std::string("\0\0\0\0\xd0\0\0\x20", 8));
  CHECK(sent("-Infinity") == std::string("\0\0\0\0\xf0\0\0\x20", 8));
}

TEST_CASE("sums keep what 128 bits do not hold", "[types][numeric]") {
  Arena arena;
  NumericSum sum;
  for (const char* text : {"170141183460469231731687303715884105727", "1", "0.5",
                           "170141183460469231731687303715884105727", "-0.5"})
    sum.add(arena, numeric_from_text(arena, text));
  CHECK(show(sum.total(arena)) == "340282366920938463463374607431768211455.0");
}

}  // namespace swizzle::sql
