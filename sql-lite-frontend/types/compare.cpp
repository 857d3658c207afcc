#include "sql-lite-frontend/types/compare.h"

#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/datetime_ops.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/json_key.h"
#include "sql-lite-frontend/types/json_order.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

template <class T>
int order(T a, T b) noexcept {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

int compare_signed(const Value& a, const Value& b) {
  return order(a.as_int8(), b.as_int8());
}
int compare_unsigned(const Value& a, const Value& b) {
  return order(static_cast<std::uint64_t>(a.as_int8()), static_cast<std::uint64_t>(b.as_int8()));
}

// NaN equals itself and is greater than every number.
template <class Float>
int order_floats(Float a, Float b) noexcept {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return order(a, b);
}
int compare_float4(const Value& a, const Value& b) {
  return order_floats(a.as_float4(), b.as_float4());
}
int compare_float8(const Value& a, const Value& b) {
  return order_floats(a.as_float8(), b.as_float8());
}

int compare_bytes(const Value& a, const Value& b) {
  return compare(a.as_bytes(), b.as_bytes());
}

std::string_view without_blanks(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}
int compare_blank_padded(const Value& a, const Value& b) {
  return compare(as_bytes(without_blanks(a.as_text())), as_bytes(without_blanks(b.as_text())));
}

// By the instant, then by the zone: 12:00+00 and 13:00+01 are the same instant and not equal.
int compare_timetz(const Value& a, const Value& b) {
  const auto instant = [](const TimeTz& t) {
    return t.microseconds + t.zone_seconds * kMicrosPerSecond;
  };
  const int by_instant = order(instant(a.as_timetz()), instant(b.as_timetz()));
  return by_instant != 0 ? by_instant
                         : order(a.as_timetz().zone_seconds, b.as_timetz().zone_seconds);
}

int compare_interval(const Value& a, const Value& b) {
  return compare_intervals(a.as_interval(), b.as_interval());
}

int compare_json(const Value& a, const Value& b) {
  return compare_jsonb(a.as_text(), b.as_text());
}

[[noreturn]] void no_order(TypeId type) {
  throw_error(sqlstate::undefined_function, "could not identify a comparison function for type {}",
              format_type(type));
}

CompareFunction ordered(TypeId type) {
  const CompareFunction function = compare_function(type);
  if (function == nullptr) no_order(type);
  return function;
}

int compare_with_nulls(CompareFunction function, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return static_cast<int>(a.is_null()) - static_cast<int>(b.is_null());
  return function(a, b);
}

int compare_array(const Value& a, const Value& b) {
  check_stack();
  const ArrayView left{a};
  const ArrayView right{b};
  const std::size_t common = std::min(left.size(), right.size());
  if (common > 0) {
    const CompareFunction function = ordered(left.element_type());
    for (std::size_t i = 0; i < common; ++i)
      if (const int by = compare_with_nulls(function, left.element(i), right.element(i)); by != 0)
        return by;
  }
  if (left.size() != right.size()) return order(left.size(), right.size());
  if (left.dimension_count() != right.dimension_count())
    return order(left.dimension_count(), right.dimension_count());
  for (std::size_t i = 0; i < left.dimension_count(); ++i)
    if (left.dimension(i).length != right.dimension(i).length)
      return order(left.dimension(i).length, right.dimension(i).length);
  for (std::size_t i = 0; i < left.dimension_count(); ++i)
    if (left.dimension(i).lower != right.dimension(i).lower)
      return order(left.dimension(i).lower, right.dimension(i).lower);
  return 0;
}

int compare_record(const Value& a, const Value& b) {
  check_stack();
  const RecordView left{a};
  const RecordView right{b};
  const std::size_t common = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (left.type(i) != right.type(i))
      throw_error(sqlstate::datatype_mismatch,
                  "cannot compare dissimilar column types {} and {} at record column {}",
                  format_type(left.type(i)), format_type(right.type(i)), i + 1);
    const int by = compare_with_nulls(ordered(left.type(i)), left.field(i), right.field(i));
    if (by != 0) return by;
  }
  if (left.size() != right.size())
    throw SqlError{sqlstate::datatype_mismatch,
                   "cannot compare record types with different numbers of columns"};
  return 0;
}

std::uint64_t hash_scalar(const Value& value, std::uint64_t seed) {
  return hash_integer(static_cast<std::uint64_t>(value.as_int8()), seed);
}
// float4 hashes as the float8 of the same number, so that both can meet in one hash join.
std::uint64_t hash_double(double number, std::uint64_t seed) {
  if (number == 0) number = 0;  // -0
  if (std::isnan(number)) number = std::nan("");
  return hash_integer(std::bit_cast<std::uint64_t>(number), seed);
}
std::uint64_t hash_float4(const Value& value, std::uint64_t seed) {
  return hash_double(static_cast<double>(value.as_float4()), seed);
}
std::uint64_t hash_float8(const Value& value, std::uint64_t seed) {
  return hash_double(value.as_float8(), seed);
}
std::uint64_t hash_whole(const Value& value, std::uint64_t seed) {
  return hash_bytes(value.as_bytes(), seed);
}
std::uint64_t hash_blank_padded(const Value& value, std::uint64_t seed) {
  return hash_bytes(as_bytes(without_blanks(value.as_text())), seed);
}
std::uint64_t hash_timetz(const Value& value, std::uint64_t seed) {
  const TimeTz time = value.as_timetz();
  return hash_integer(static_cast<std::uint64_t>(time.microseconds),
                      hash_integer(static_cast<std::uint32_t>(time.zone_seconds), seed));
}
std::uint64_t hash_interval(const Value& value, std::uint64_t seed) {
  const Interval i = value.as_interval();
  // Equal intervals have equal totals; the low 64 bits of the total are enough for a hash.
  const std::int64_t days = std::int64_t{i.months} * 30 + i.days;
  return hash_integer(static_cast<std::uint64_t>(days) * static_cast<std::uint64_t>(kMicrosPerDay) +
                          static_cast<std::uint64_t>(i.microseconds),
                      seed);
}

std::uint64_t hash_json(const Value& value, std::uint64_t seed) {
  std::string key;
  append_jsonb_key(key, value.as_text());
  return hash_bytes(as_bytes(key), seed);
}

constexpr std::uint64_t kNullHash = 0x9b1a;

std::uint64_t hash_array(const Value& value, std::uint64_t seed) {
  check_stack();
  const ArrayView view{value};
  if (view.size() == 0) return hash_integer(0, seed);
  const HashFunction function = hash_function(view.element_type());
  if (function == nullptr)
    throw_error(sqlstate::undefined_function, "could not identify a hash function for type {}",
                format_type(view.element_type()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    seed = element.is_null() ? hash_integer(kNullHash, seed) : function(element, seed);
  }
  return seed;
}

std::uint64_t hash_record(const Value& value, std::uint64_t seed) {
  check_stack();
  const RecordView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value field = view.field(i);
    seed = field.is_null() ? hash_integer(kNullHash, seed) : hash_value(view.type(i), field, seed);
  }
  return seed;
}

}  // namespace

CompareFunction compare_function(TypeId type) noexcept {
  type = base_type(type);
  if (type == TypeId::bpchar) return &compare_blank_padded;
  if (type == TypeId::jsonb) return &compare_json;
  if (type == TypeId::json || type == TypeId::xid || type == TypeId::cid ||
      type == TypeId::aclitem || type == TypeId::pg_node_tree)
    return nullptr;
  switch (shape_of(type)) {
    case Shape::none:
      return nullptr;
    case Shape::boolean:
    case Shape::char8:
    case Shape::int16:
    case Shape::int32:
    case Shape::uint32:
    case Shape::int64:
      return &compare_signed;
    case Shape::uint64:
      return &compare_unsigned;
    case Shape::float32:
      return &compare_float4;
    case Shape::float64:
      return &compare_float8;
    case Shape::timetz:
      return &compare_timetz;
    case Shape::interval:
      return &compare_interval;
    case Shape::uuid:
    case Shape::text:
    case Shape::bytes:
      return &compare_bytes;
    case Shape::numeric:
      return &numeric_compare;
    case Shape::array:
      return &compare_array;
    case Shape::record:
      return &compare_record;
  }
  return nullptr;
}

HashFunction hash_function(TypeId type) noexcept {
  type = base_type(type);
  if (type == TypeId::bpchar) return &hash_blank_padded;
  if (type == TypeId::jsonb) return &hash_json;
  switch (shape_of(type)) {
    case Shape::none:
      return nullptr;
    case Shape::boolean:
    case Shape::char8:
    case Shape::int16:
    case Shape::int32:
    case Shape::uint32:
    case Shape::int64:
    case Shape::uint64:
      return &hash_scalar;
    case Shape::float32:
      return &hash_float4;
    case Shape::float64:
      return &hash_float8;
    case Shape::timetz:
      return &hash_timetz;
    case Shape::interval:
      return &hash_interval;
    case Shape::uuid:
    case Shape::text:
    case Shape::bytes:
      return &hash_whole;
    case Shape::numeric:
      return &numeric_hash;
    case Shape::array:
      return &hash_array;
    case Shape::record:
      return &hash_record;
  }
  return nullptr;
}

int compare_values(TypeId type, const Value& left, const Value& right) {
  return ordered(type)(left, right);
}

std::uint64_t hash_value(TypeId type, const Value& value, std::uint64_t seed) {
  const HashFunction function = hash_function(type);
  if (function == nullptr)
    throw_error(sqlstate::undefined_function, "could not identify a hash function for type {}",
                format_type(type));
  return function(value, seed);
}

}  // namespace swizzle::sql
