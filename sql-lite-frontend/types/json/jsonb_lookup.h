#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Parts of jsonb, whose keys stand by length and then by bytes, each once: what is looked for is
/// found, or known not to be there, without taking anything apart. All of them want jsonb's
/// spelling.
namespace swizzle::sql {

/// Nothing if there is none, or no object.
std::optional<std::string_view> jsonb_member(std::string_view json, std::string_view key);
/// Counted from 0, or from the end by a negative number; nothing outside, or without an array.
std::optional<std::string_view> jsonb_element(std::string_view json, std::int32_t index);

/// A place in an object where a key's value stands, or where the member would have to.
struct JsonbPlace {
  std::string_view value;  ///< of no length before the member that the new one would precede
  bool is_there = false;
};
/// Pre: an object. Nothing where the key would have to be written with escapes.
std::optional<JsonbPlace> jsonb_place(std::string_view object, std::string_view key);

}  // namespace swizzle::sql
