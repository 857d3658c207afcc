#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/memory_account.h"

/// Parts of valid JSON text, as views of it.
namespace swizzle::sql {

enum class JsonKind : std::uint8_t { object, array, string, number, boolean, null };
constexpr bool is_json_scalar(JsonKind kind) noexcept {
  return kind != JsonKind::object && kind != JsonKind::array;
}
/// Returns the kind, from the first character that is not blank.
JsonKind json_kind(std::string_view json) noexcept;
/// Returns json_typeof()'s name of the kind.
std::string_view json_kind_name(JsonKind kind) noexcept;

/// Returns the text without blanks around it.
std::string_view json_trimmed(std::string_view json) noexcept;
/// Unescapes a JSON string. Throws 22P05 for \u0000.
std::string json_string_value(std::string_view quoted);

struct JsonMember {
  std::string_view key;  ///< with its quotes
  std::string_view value;
};
/// Returns the members. Pre: an object.
std::vector<JsonMember> json_members(std::string_view json);
/// Returns the elements. Pre: an array.
CountedVector<std::string_view> json_elements(std::string_view json, MemoryAccount* account);

/// Returns the last member with that key; nothing if there is none or `json` is no object.
std::optional<std::string_view> json_member(std::string_view json, std::string_view key);
/// Returns an element, counted from 0, or from the end if negative; nothing if out of range or no
/// array.
std::optional<std::string_view> json_element(std::string_view json, std::int32_t index);

/// Returns `whole` @> `part`. Pre: both in jsonb's spelling.
bool jsonb_contains(const Jsonb& whole, std::string_view part);

}  // namespace swizzle::sql
