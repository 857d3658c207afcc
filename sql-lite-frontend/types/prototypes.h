#pragma once

#include "sql-lite-frontend/types/type.h"

/// Common properties of types that are derived, not defined one by one.
namespace swizzle::sql {

/// Array of a built-in type: oid, name and element are to be filled in.
const Type& array_prototype() noexcept;
/// Arrays of user-defined types.
const Type& user_array_prototype() noexcept;
const Type& enum_prototype() noexcept;
const Type& composite_prototype() noexcept;
const Type& range_prototype() noexcept;
const Type& multirange_prototype() noexcept;
/// Input and output of domains; everything else is their base type's.
const TypeCodec& domain_codec() noexcept;

}  // namespace swizzle::sql
