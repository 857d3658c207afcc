#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Splits a possibly qualified and quoted name as written by the user; unquoted parts are folded to
/// lower case. Throws SqlError 42602 if it is malformed.
std::vector<std::string> split_identifier(std::string_view text);

/// Returns a type for use in a cast: plain `character` would mean character(1).
std::string cast_target(TypeId type, std::int32_t typmod = kNoTypmod);
/// The same for stored SQL: user-defined types are written by oid, which survives renaming
/// (bind_type parses it).
std::string stored_cast_target(TypeId type, std::int32_t typmod = kNoTypmod);
/// Returns the oid in a name written by stored_cast_target(); none for any other name.
TypeId type_of_stored_name(std::string_view name);

/// Returns the name of a user-defined routine in stored expressions, which contains its oid.
std::string stored_routine_name(std::uint32_t oid);
/// The same for a call written as a user-defined operator, or as a cast with a function.
std::string stored_operator_name(std::uint32_t oid);
std::string stored_cast_name(std::uint32_t function);
/// The same for a collation.
std::string stored_collation_name(std::uint32_t oid);
std::uint32_t collation_of_stored_name(std::string_view name);
std::uint32_t operator_of_stored_name(std::string_view name);
std::uint32_t cast_of_stored_name(std::string_view name);
/// Returns the oid in a name written by stored_routine_name(); 0 for any other name.
std::uint32_t routine_of_stored_name(std::string_view name);

}  // namespace swizzle::sql
