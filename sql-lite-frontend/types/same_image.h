#pragma once

#include <algorithm>

#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// True if two values of a type are the same to the last bit: 0 and -0, 1.0 and 1.00, or texts that
/// a collation calls equal are not.
inline bool has_same_image(const Value& left, const Value& right) noexcept {
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Value::Kind::null:
      return true;
    case Value::Kind::scalar:
      return left.as_int8() == right.as_int8();
    case Value::Kind::extended:
      return left.decimal_unscaled() == right.decimal_unscaled() &&
             left.decimal_scale() == right.decimal_scale();
    case Value::Kind::bytes:
      return std::ranges::equal(left.as_bytes(), right.as_bytes());
  }
  return false;
}

}  // namespace swizzle::sql
