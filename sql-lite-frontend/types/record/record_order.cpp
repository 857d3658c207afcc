#include "sql-lite-frontend/types/record/record_order.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

/// Returns the type by which both fields are ordered; none if their collations differ.
TypeId common_order(const RecordView& left, const RecordView& right, std::size_t field) {
  const TypeId one = left.ordered_type(field);
  const TypeId other = right.ordered_type(field);
  if (one == other) return one;
  const auto by_bytes = [](TypeId type) {
    return !is_collated(type) || orders_by_bytes(collation_of_type(type));
  };
  return by_bytes(one) && by_bytes(other) ? without_collation(one)
                                          : with_collation(one, collation_id::indeterminate);
}

}  // namespace

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
    const int by =
        compare_with_nulls(ordered(common_order(left, right, i)), left.field(i), right.field(i));
    if (by != 0) return by;
  }
  if (left.size() != right.size())
    throw SqlError{sqlstate::datatype_mismatch,
                   "cannot compare record types with different numbers of columns"};
  return 0;
}

std::uint64_t hash_record(const Value& value, std::uint64_t seed) {
  check_stack();
  const RecordView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value field = view.field(i);
    seed = field.is_null() ? hash_integer(kNullHash, seed)
                           : hash_value(view.ordered_type(i), field, seed);
  }
  return seed;
}

namespace {

[[noreturn]] void fail_unordered(TypeId type) {
  throw_error(sqlstate::undefined_function, "could not identify a comparison function for type {}",
              format_type(type));
}

}  // namespace

void put_record_key(std::string& key, const Value& value) {
  check_stack();
  const RecordView view{value};
  keys::put(key, static_cast<std::uint32_t>(view.size()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    const TypeId type = view.ordered_type(i);
    if (value_type(type).order.put_key == nullptr) fail_unordered(type);
    keys::put(key, raw(type));
    const Value field = view.field(i);
    key.push_back(field.is_null() ? keys::kNullLast : keys::kPresent);
    if (!field.is_null()) keys::put_value(key, type, field);
  }
}

Value take_record_key(Bytes& key, TypeId, Arena& arena) {
  check_stack();
  const auto count = keys::take<std::uint32_t>(key);
  // A field takes at least the bytes of its type and its marker.
  constexpr std::size_t kLeastBytes = 5;
  if (count > key.size() / kLeastBytes) keys::corrupt();
  std::vector<TypeId> types(count);
  std::vector<Value> fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    types[i] = TypeId{keys::take<std::uint32_t>(key)};
    if (find_type(types[i]) == nullptr) keys::corrupt();
    const auto marker = static_cast<char>(keys::take<std::uint8_t>(key));
    if (marker != keys::kNullLast && marker != keys::kPresent) keys::corrupt();
    if (marker == keys::kPresent) fields[i] = keys::take_value(key, types[i], arena);
  }
  return make_record(arena, types, fields);
}

}  // namespace swizzle::sql
