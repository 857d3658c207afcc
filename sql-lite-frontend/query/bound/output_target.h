#pragma once

#include <cstdint>
#include <string>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// A column of a query's result.
struct OutputTarget {
  ExprPtr expr;  ///< null once it has been moved into the plan
  std::string name;
  TypeId type = TypeId::none;
  std::int32_t typmod = kNoTypmod;
  Slot slot = 0;
  SlotExpr::Origin origin;
  /// True for a literal without a type, which became text when its query was finished: an enclosing
  /// set operation may still give it another type.
  bool was_untyped = false;
};

}  // namespace swizzle::sql
