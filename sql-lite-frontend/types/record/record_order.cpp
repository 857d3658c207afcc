#include "sql-lite-frontend/types/record/record_order.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

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

std::uint64_t hash_record(const Value& value, std::uint64_t seed) {
  check_stack();
  const RecordView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value field = view.field(i);
    seed = field.is_null() ? hash_integer(kNullHash, seed) : hash_value(view.type(i), field, seed);
  }
  return seed;
}

void put_record_key(std::string& key, const Value& value) {
  check_stack();
  const RecordView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value field = view.field(i);
    key.push_back(field.is_null() ? keys::kNullLast : keys::kPresent);
    if (!field.is_null()) keys::put_value(key, view.type(i), field);
  }
}

}  // namespace swizzle::sql
