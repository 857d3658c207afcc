#include <cmath>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/numeric/money_words.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

/// money: hundredths in 64 bits, written as in PostgreSQL under the locale "C": -$1,234.50.
namespace swizzle::sql {
namespace {

constexpr std::int64_t kHundredths = 100;
constexpr int kDecimals = 2;
constexpr std::size_t kGroup = 3;

/// Parser of amounts, with signs, parentheses and dollar signs in any place that PostgreSQL
/// accepts.
class MoneyReader {
 public:
  explicit MoneyReader(std::string_view text) : text_{text}, rest_{text} {}

  std::int64_t read() {
    begin();
    digits();
    end();
    if (negative_) return amount_;
    if (amount_ == INT64_MIN) out_of_range();
    return -amount_;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[noreturn]] void out_of_range() const {
    throw_error(sqlstate::numeric_value_out_of_range, "value \"{}\" is out of range for type money",
                text_);
  }

  void begin() {
    skip_space();
    if (take('$')) skip_space();
    negative_ = take('-') || take('(');
    if (!negative_) take('+');
    skip_space();
    if (take('$')) skip_space();
  }

  // Accumulates downwards, because the negative range is larger by one.
  void add(char digit) {
    if (__builtin_mul_overflow(amount_, std::int64_t{10}, &amount_) ||
        __builtin_sub_overflow(amount_, std::int64_t{digit - '0'}, &amount_))
      out_of_range();
  }

  void digits() {
    bool seen_point = false;
    int decimals = 0;
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      const char c = rest_.front();
      if (is_digit(c) && decimals < kDecimals) {
        add(c);
        decimals += seen_point ? 1 : 0;
      } else if (c == '.' && !seen_point) {
        seen_point = true;
      } else if (c != ',') {
        break;
      }
    }
    const bool rounds = !rest_.empty() && is_digit(rest_.front()) && rest_.front() >= '5';
    if (rounds && __builtin_sub_overflow(amount_, std::int64_t{1}, &amount_)) out_of_range();
    for (; decimals < kDecimals; ++decimals) add('0');
  }

  void end() {
    while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (take('-')) {
        negative_ = true;
      } else if (is_space(rest_.front()) || rest_.front() == ')' || rest_.front() == '+' ||
                 rest_.front() == '$') {
        rest_.remove_prefix(1);
      } else {
        throw_invalid_syntax(builtin_id::money, text_);
      }
    }
  }

  std::string_view text_;
  std::string_view rest_;
  std::int64_t amount_ = 0;  ///< the magnitude negated: never positive
  bool negative_ = false;
};

void append_money(std::string& out, std::int64_t amount) {
  const std::uint64_t size =
      amount < 0 ? 0 - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
  const std::string whole = std::to_string(size / kHundredths);
  out += amount < 0 ? "-$" : "$";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0 && (whole.size() - i) % kGroup == 0) out.push_back(',');
    out.push_back(whole[i]);
  }
  out += fmt::format(".{:02}", size % kHundredths);
}

constexpr TypeCodec kMoneyCodec{[](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
                                  return Value::from_int(MoneyReader{text}.read());
                                },
                                [](FunctionContext&, TypeId, const Value& value, std::string& out) {
                                  append_money(out, value.as_int8());
                                },
                                [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
                                  BinaryReader reader{bytes};
                                  const auto amount = reader.take<std::int64_t>();
                                  reader.finish();
                                  return Value::from_int(amount);
                                },
                                [](FunctionContext&, TypeId, const Value& value, std::string& out) {
                                  append_big_endian(out, value.as_int8());
                                }};

using Arguments = std::span<const Value>;

[[noreturn]] void refuse_range(std::string_view type = "money") {
  throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", type);
}
[[noreturn]] void refuse_zero() {
  throw SqlError{sqlstate::division_by_zero, "division by zero"};
}

Value add(FunctionContext&, Arguments a) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a[0].as_int8(), a[1].as_int8(), &sum)) refuse_range();
  return Value::from_int(sum);
}
Value subtract(FunctionContext&, Arguments a) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a[0].as_int8(), a[1].as_int8(), &difference)) refuse_range();
  return Value::from_int(difference);
}
Value times_integer(FunctionContext&, Arguments a) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a[0].as_int8(), a[1].as_int8(), &product)) refuse_range();
  return Value::from_int(product);
}
Value divided_by_integer(FunctionContext&, Arguments a) {
  if (a[1].as_int8() == 0) refuse_zero();
  if (a[0].as_int8() == INT64_MIN && a[1].as_int8() == -1) refuse_range();
  return Value::from_int(a[0].as_int8() / a[1].as_int8());
}

Value rounded(double amount) {
  constexpr double kEnd = 9223372036854775808.0;
  const double whole = std::rint(amount);
  if (!(whole >= -kEnd && whole < kEnd)) refuse_range();
  return Value::from_int(static_cast<std::int64_t>(whole));
}
double amount_of(const Value& value) {
  return static_cast<double>(value.as_int8());
}
template <class Float>
double factor_of(const Value& value) {
  if constexpr (sizeof(Float) == sizeof(float))
    return static_cast<double>(value.as_float4());
  else
    return value.as_float8();
}
template <class Float, std::size_t money>
Value times_float(FunctionContext&, Arguments a) {
  return rounded(amount_of(a[money]) * factor_of<Float>(a[1 - money]));
}
template <class Float>
Value divided_by_float(FunctionContext&, Arguments a) {
  const double divisor = factor_of<Float>(a[1]);
  if (divisor == 0) refuse_zero();
  return rounded(amount_of(a[0]) / divisor);
}
Value ratio(FunctionContext&, Arguments a) {
  if (a[1].as_int8() == 0) refuse_zero();
  return Value::from_float8(amount_of(a[0]) / amount_of(a[1]));
}

Value from_integer(FunctionContext&, Arguments a) {
  std::int64_t amount = 0;
  if (__builtin_mul_overflow(a[0].as_int8(), kHundredths, &amount)) refuse_range("bigint");
  return Value::from_int(amount);
}
Value from_numeric(FunctionContext& context, Arguments a) {
  const Value hundredfold = numeric_multiply(context.arena, a[0], numeric_from_int(kHundredths));
  return Value::from_int(numeric_to_int(hundredfold, INT64_MIN, INT64_MAX, "bigint"));
}
Value to_numeric(FunctionContext& context, Arguments a) {
  return numeric_from_int128(context.arena, Int128{a[0].as_int8()}, kDecimals);
}
Value in_words(FunctionContext& context, Arguments a) {
  return make_text(context.arena, money_in_words(a[0].as_int8()));
}

struct Sum {
  std::int64_t sum = 0;
  bool any = false;
  void add(std::int64_t amount) {
    if (__builtin_add_overflow(sum, amount, &sum)) refuse_range();
    any = true;
  }
  void step(FunctionContext&, Arena&, Arguments a) { add(a[0].as_int8()); }
  [[nodiscard]] Value final(FunctionContext&) const {
    return any ? Value::from_int(sum) : Value::null();
  }
  void combine(Arena&, const Sum& other) {
    if (other.any) add(other.sum);
  }
};

constexpr ScalarEntry kScalars[] = {
    SWIZZLE_COMPARISONS_OF("money", compare_signed),
    SWIZZLE_LARGER_SMALLER_OF("cash", "money", compare_signed),
    {"cash_cmp(money,money)", &order_of_two<&compare_signed>},
    {"+(money,money)", &add},
    {"-(money,money)", &subtract},
    {"*(money,int2)", &times_integer},
    {"*(money,int4)", &times_integer},
    {"*(money,int8)", &times_integer},
    {"*(int2,money)", &times_integer},
    {"*(int4,money)", &times_integer},
    {"*(int8,money)", &times_integer},
    {"*(money,float4)", &times_float<float, 0>},
    {"*(money,float8)", &times_float<double, 0>},
    {"*(float4,money)", &times_float<float, 1>},
    {"*(float8,money)", &times_float<double, 1>},
    {"/(money,int2)", &divided_by_integer},
    {"/(money,int4)", &divided_by_integer},
    {"/(money,int8)", &divided_by_integer},
    {"/(money,float4)", &divided_by_float<float>},
    {"/(money,float8)", &divided_by_float<double>},
    {"/(money,money)", &ratio},
    {"money(int4)", &from_integer},
    {"money(int8)", &from_integer},
    {"money(numeric)", &from_numeric},
    {"numeric(money)", &to_numeric},
    {"cash_words(money)", &in_words},
};
constexpr AggregateEntry kAggregates[] = {SWIZZLE_MIN_MAX_OF("money", compare_signed),
                                          {"sum(money)", aggregate_of<Sum>()}};
constexpr FunctionsOfType kFunctions{.scalars = kScalars, .aggregates = kAggregates};

}  // namespace

constinit const Type builtin::money{.id = builtin_id::money,
                                    .array = builtin_id::array_of_money,
                                    .name = "money",
                                    .sql_name = "money",
                                    .length = 8,
                                    .by_value = true,
                                    .category = 'N',
                                    .alignment = 'd',
                                    .storage = 'p',
                                    .in_btree_gist = true,
                                    .shape = Shape::int64,
                                    .io = kMoneyCodec,
                                    .order = kInt64Order,
                                    .functions = &kFunctions};

}  // namespace swizzle::sql
