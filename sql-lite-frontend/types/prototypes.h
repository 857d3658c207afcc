#pragma once

#include "sql-lite-frontend/types/type.h"

/// Common properties of the types that are not written down one by one.
namespace swizzle::sql {

/// Arrays of a built-in type: without number, name and element.
const Type& array_prototype() noexcept;
/// Arrays of user-defined types.
const Type& user_array_prototype() noexcept;
const Type& enum_prototype() noexcept;
const Type& composite_prototype() noexcept;
const Type& range_prototype() noexcept;
const Type& multirange_prototype() noexcept;
/// Domains read and write as they do; the rest is their base's.
const TypeCodec& domain_codec() noexcept;

}  // namespace swizzle::sql
