#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/array/array.h"

/// Values in rows of system relations.
namespace swizzle::sql {

inline Value text_value(Execution& execution, std::string_view value) {
  return make_text(execution.row_arena, value);
}
inline Value letter(char value) {
  return Value::from_int(value);
}
inline Value flag(bool value) {
  return Value::from_bool(value);
}
inline Value number(std::size_t value) {
  return Value::from_int(static_cast<std::int64_t>(value));
}
/// Returns a text[]; NULL without options.
inline Value options_value(Execution& execution, std::span<const std::string> options) {
  if (options.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::string& option : options) values.push_back(text_value(execution, option));
  return make_array(execution.row_arena, TypeId::text, values);
}

}  // namespace swizzle::sql
