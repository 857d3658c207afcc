#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/array/array.h"

/// Values as the rows of system relations have them.
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
/// text[], NULL where there are none.
inline Value options_value(Execution& execution, std::span<const std::string> options) {
  if (options.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::string& option : options) values.push_back(text_value(execution, option));
  return make_array(execution.row_arena, TypeId::text, values);
}

}  // namespace swizzle::sql
