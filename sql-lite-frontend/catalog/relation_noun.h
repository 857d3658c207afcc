#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"

namespace swizzle::sql {

/// Returns the word for a relation of that kind in messages.
constexpr std::string_view noun_of(RelationKind kind) noexcept {
  switch (kind) {
    case RelationKind::view:
      return "view";
    case RelationKind::materialized:
      return "materialized view";
    case RelationKind::sequence:
      return "sequence";
    case RelationKind::table:
    case RelationKind::partitioned:
    case RelationKind::computed:
      break;
  }
  return "table";
}

}  // namespace swizzle::sql
