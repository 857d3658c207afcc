#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

/// Text in JavaScript's object notation: the types json (kept as it came) and jsonb (kept in one
/// canonical spelling).
namespace swizzle::sql {

/// Throws SqlError 22P02 unless the text is one JSON value; `type` is its name in the message.
void check_json(std::string_view text, TypeId type);
/// The spelling that jsonb shows: keys by length and bytes and each once, one blank after commas
/// and colons, strings without needless escapes. Throws as above.
std::string canonical_json(std::string_view text);

/// True if strings contain the character as it is: no quote, backslash or control character.
constexpr bool stands_for_itself(char c) noexcept {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}
/// `text` as a JSON string.
void append_json_string(std::string_view text, std::string& out);
/// A row with a line for each of its fields, as row_to_json(…, true) has it.
void append_pretty_row(FunctionContext& context, const Value& row, std::string& out);
/// A value's text as it stands in JSON: dates are ISO 8601, whatever DateStyle is.
void json_scalar_text(FunctionContext& context, TypeId type, const Value& value, std::string& text);
/// The same for the key of an object, which is no array, row or JSON.
void json_key_text(FunctionContext& context, TypeId type, const Value& value, std::string& text);
/// A value of any type as JSON, as to_json() has it.
void append_json(FunctionContext& context, TypeId type, const Value& value, std::string& out);

}  // namespace swizzle::sql
