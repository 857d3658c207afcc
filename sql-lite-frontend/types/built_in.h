#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"

/// Properties of types, for code that does not need the whole definition.
namespace swizzle::sql {

/// True for a built-in type: neither user-defined nor part of an extension.
bool is_built_in(TypeId type) noexcept;
/// Returns the built-in type with the name in pg_type, like "int4"; null if there is none.
const Type* find_built_in_type(std::string_view name) noexcept;
/// format_type() of a client's oid: "???" if no type visible to clients has it.
std::string name_of_number(std::uint32_t oid);
/// pg_type.typlen: -1 for values of any length, and for unknown types.
std::int16_t type_size(TypeId type) noexcept;

}  // namespace swizzle::sql
