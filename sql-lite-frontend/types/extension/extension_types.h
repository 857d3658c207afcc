#pragma once

#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// Types of extensions. The type objects always exist; a database has the name, in the extension's
/// schema, after CREATE EXTENSION. An oid is never reused.
namespace swizzle::sql {

inline constexpr TypeId kCitextType{kFirstOfExtensions + 0};
inline constexpr TypeId kHstoreType{kFirstOfExtensions + 1};

const Type& citext_object() noexcept;
const Type& hstore_object() noexcept;

/// Returns null for an oid without a type.
const Type* find_extension_type(TypeId type) noexcept;

}  // namespace swizzle::sql
