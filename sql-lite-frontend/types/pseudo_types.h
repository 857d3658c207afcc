#pragma once

#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

/// Returns a type that occurs only in signatures of functions.
constexpr Type pseudo_type(TypeId id, std::string_view name) {
  return {.id = id,
          .name = name,
          .sql_name = name,
          .length = 4,
          .by_value = true,
          .category = 'P',
          .storage = 'p',
          .kind = 'p'};
}

/// Returns a pseudo-type for arrays or ranges, whose values have variable length.
constexpr Type long_pseudo_type(TypeId id, std::string_view name) {
  Type type = pseudo_type(id, name);
  type.length = -1;
  type.by_value = false;
  type.alignment = 'd';
  type.storage = 'x';
  return type;
}

}  // namespace swizzle::sql
