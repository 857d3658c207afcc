#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Splits a possibly qualified and quoted name as the user wrote it; unquoted parts are folded to
/// lower case. Throws SqlError 42602 for a malformed one.
std::vector<std::string> split_identifier(std::string_view text);

/// A type as casts name it: `character` alone would mean character(1).
std::string cast_target(TypeId type, std::int32_t typmod = kNoTypmod);
/// The same for SQL that is kept: types that users made by number, which stays right when they are
/// renamed (bind_type reads it).
std::string stored_cast_target(TypeId type, std::int32_t typmod = kNoTypmod);
/// The number that stored_cast_target() wrote for a name; none for any other name.
TypeId type_of_stored_name(std::string_view name);

/// Returns the spelling of a user-defined routine in a stored expression: its number, as with
/// types.
std::string stored_routine_name(std::uint32_t oid);
/// The same for a call that is written as an operator that a user made, or as a cast by a function.
std::string stored_operator_name(std::uint32_t oid);
std::string stored_cast_name(std::uint32_t function);
/// The same for a collation.
std::string stored_collation_name(std::uint32_t oid);
std::uint32_t collation_of_stored_name(std::string_view name);
std::uint32_t operator_of_stored_name(std::string_view name);
std::uint32_t cast_of_stored_name(std::string_view name);
/// The number that stored_routine_name() wrote for a name; 0 for any other name.
std::uint32_t routine_of_stored_name(std::string_view name);

}  // namespace swizzle::sql
