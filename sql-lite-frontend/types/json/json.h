#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

/// JSON text: the types json (stored as entered) and jsonb (stored in a canonical spelling).
namespace swizzle::sql {

/// Throws SqlError 22P02 unless the text is a valid JSON value; `type` is for the message.
void check_json(std::string_view text, TypeId type);
/// Returns jsonb's spelling: distinct keys ordered by length and bytes, one blank after commas and
/// colons, no needless escapes. Throws as above.
std::string canonical_json(std::string_view text);

/// True if a string may contain the character unescaped: no quote, backslash or control character.
constexpr bool stands_for_itself(char c) noexcept {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}
/// Appends `text` as a JSON string.
void append_json_string(std::string_view text, std::string& out);
/// Appends a row with one line per field, as row_to_json(…, true) does.
void append_pretty_row(FunctionContext& context, const Value& row, std::string& out);
/// Sets `text` to the value's text in JSON: dates are in ISO 8601 regardless of DateStyle.
void json_scalar_text(FunctionContext& context, TypeId type, const Value& value, std::string& text);
/// The same for an object's key, which is not an array, row or JSON.
void json_key_text(FunctionContext& context, TypeId type, const Value& value, std::string& text);
/// Appends a value of any type as to_json() does.
void append_json(FunctionContext& context, TypeId type, const Value& value, std::string& out);

}  // namespace swizzle::sql
