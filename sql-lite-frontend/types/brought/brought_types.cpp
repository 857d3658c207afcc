#include "sql-lite-frontend/types/brought/brought_types.h"

namespace swizzle::sql {

const Type* find_brought_type(TypeId type) noexcept {
  if (type == kCitextType) return &citext_object();
  return type == kHstoreType ? &hstore_object() : nullptr;
}

}  // namespace swizzle::sql
