#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"

/// Questions about types, for code that does not need a whole definition.
namespace swizzle::sql {

/// True if it comes with the server: neither user-defined nor part of an extension.
bool is_built_in(TypeId type) noexcept;
/// Returns the built-in type with pg_type's name, "int4". Null: there is none.
const Type* find_built_in_type(std::string_view name) noexcept;
/// format_type() of a number from a client: "???" if no type that clients can know has it.
std::string name_of_number(std::uint32_t oid);
/// pg_type.typlen: -1 for values of any length, and for unknown types.
std::int16_t type_size(TypeId type) noexcept;

}  // namespace swizzle::sql
