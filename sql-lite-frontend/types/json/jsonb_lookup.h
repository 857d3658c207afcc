#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"

/// Search in jsonb without parsing it all. Keys are unique, ordered by length, then bytes. A search
/// scans a section of the text, which is short if there is a directory.
namespace swizzle::sql {

/// Returns nothing if there is no such member, or `json` is no object.
std::optional<Jsonb> jsonb_member(const Jsonb& json, std::string_view key);
/// Returns the number of elements. Pre: an array.
std::uint32_t jsonb_size(const Jsonb& array);
/// Returns an element, counted from 0, or from the end if negative; nothing if out of range or no
/// array.
std::optional<Jsonb> jsonb_element(const Jsonb& json, std::int32_t index);

/// Position of a key's value in an object, or position at which to insert the member.
struct JsonbPlace {
  Jsonb value;  ///< of no length before the member that the new one would precede
  bool is_there = false;
};
/// Returns nothing if the key must be written with escapes. Pre: an object.
std::optional<JsonbPlace> jsonb_place(const Jsonb& object, std::string_view key);

}  // namespace swizzle::sql
