#pragma once

#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// True for dates, times of day, timestamps and intervals.
constexpr bool is_time(TypeId type) noexcept {
  switch (type) {
    case TypeId::date:
    case TypeId::time:
    case TypeId::timetz:
    case TypeId::timestamp:
    case TypeId::timestamptz:
    case TypeId::interval:
      return true;
    default:
      return false;
  }
}

}  // namespace swizzle::sql
