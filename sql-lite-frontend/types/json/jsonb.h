#pragma once

#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// A stored jsonb value: its text in canonical spelling, and a directory of the positions of parts
/// in its larger objects and arrays (jsonb_directory.h). Short values have no directory, nor do
/// values stored by versions without directories; their parts are found by scanning the text.
struct Jsonb {
  std::string_view text;
  Bytes directory = {};  ///< empty where there is none
};

/// Decodes a value. Throws XX001 if the bytes are malformed.
Jsonb jsonb_of(const Value& value);
/// Returns the text of a json or jsonb value.
std::string_view json_text(const Value& value);

/// Encodes a value. Pre: jsonb's spelling.
Value make_jsonb(Arena& arena, std::string_view text);
/// Encodes a part, with its own directory from the whole.
Value make_jsonb(Arena& arena, const Jsonb& part);

}  // namespace swizzle::sql
