#pragma once

#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// A value of jsonb as it is stored: its text in the canonical spelling, and a directory of the
/// places of the parts of its longer objects and arrays (jsonb_directory.h). Short values have
/// none, nor have values stored before there were directories: parts are then found by passing over
/// the text.
struct Jsonb {
  std::string_view text;
  Bytes directory = {};  ///< empty where there is none
};

/// Throws XX001 where the bytes are no such value.
Jsonb jsonb_of(const Value& value);
/// The text of a value of json or of jsonb.
std::string_view json_text(const Value& value);

/// Pre: jsonb's spelling.
Value make_jsonb(Arena& arena, std::string_view text);
/// A part with the directory that it has within the whole.
Value make_jsonb(Arena& arena, const Jsonb& part);

}  // namespace swizzle::sql
