#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Index keys of jsonb: memcmp orders them as compare_jsonb() does; equal values have equal keys.
/// Prefix-free. Pre: jsonb's spelling. `put_string` appends bytes that order strings as
/// compare_jsonb()'s function does; null: the string itself and a zero byte.
using PutString = void (*)(std::string& key, std::string_view text);
void append_jsonb_key(std::string& key, std::string_view json, PutString put_string = nullptr);

/// Encoding of strings in such a key.
enum class JsonbKeyStrings : bool { plain, behind_sort_keys };
/// Decodes a value equal to the encoded one, but 1.0 becomes 1.
Value take_jsonb_key(Bytes& key, Arena& arena, JsonbKeyStrings strings = JsonbKeyStrings::plain);

}  // namespace swizzle::sql
