#pragma once

#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// Types that come with an extension. Their objects are always there; a database has the name, in
/// the extension's schema, once CREATE EXTENSION has made it. A number is never used again.
namespace swizzle::sql {

inline constexpr TypeId kCitextType{kFirstBrought + 0};
inline constexpr TypeId kHstoreType{kFirstBrought + 1};

const Type& citext_object() noexcept;
const Type& hstore_object() noexcept;

/// Null for a number that no type has.
const Type* find_brought_type(TypeId type) noexcept;

}  // namespace swizzle::sql
