#pragma once

#include <string>

#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/writing_share.h"

namespace swizzle::sql {

/// Appends a value as JSON to `out`.
template <class Text>
void add_json(FunctionContext& context, TypeId type, const Value& value, Text& out) {
  const std::size_t bytes = bytes_of({&value, 1});
  // Allow 1/16 for escapes; more is rare.
  const std::size_t expected = bytes + bytes / 16 + 16;
  const WritingShare share{context, expected};
  std::string piece;
  piece.reserve(expected);
  append_json(context, type, value, piece);
  out += piece;
}

/// Converts JSON text to a jsonb value.
inline Value as_jsonb_value(FunctionContext& context, std::string_view json) {
  // Reserve twice the text: the members are parsed and sorted beside it.
  const WritingShare share{context, 2 * json.size()};
  return make_jsonb(context.arena, canonical_json(json));
}

}  // namespace swizzle::sql
