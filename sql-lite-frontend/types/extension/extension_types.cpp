#include "sql-lite-frontend/types/extension/extension_types.h"

namespace swizzle::sql {

const Type* find_extension_type(TypeId type) noexcept {
  if (type == kCitextType) return &citext_object();
  return type == kHstoreType ? &hstore_object() : nullptr;
}

}  // namespace swizzle::sql
