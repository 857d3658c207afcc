#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"

/// Search for parts of jsonb. Its keys stand by length and then by bytes, each once. A part is
/// found, or known to be absent, by passing over a piece of the text, which is short if there is a
/// directory.
namespace swizzle::sql {

/// Nothing if there is none, or no object.
std::optional<Jsonb> jsonb_member(const Jsonb& json, std::string_view key);
/// Returns the number of elements. Pre: an array.
std::uint32_t jsonb_size(const Jsonb& array);
/// Counted from 0, or from the end by a negative number; nothing outside, or without an array.
std::optional<Jsonb> jsonb_element(const Jsonb& json, std::int32_t index);

/// A place in an object where a key's value stands, or where the member would have to.
struct JsonbPlace {
  Jsonb value;  ///< of no length before the member that the new one would precede
  bool is_there = false;
};
/// Pre: an object. Nothing where the key would have to be written with escapes.
std::optional<JsonbPlace> jsonb_place(const Jsonb& object, std::string_view key);

}  // namespace swizzle::sql
