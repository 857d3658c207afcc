#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Parsed JSON value (a tree), for functions that look into it. Views refer to the text.
struct JsonValue {
  // Defined out of line, where the type is complete: it contains pairs with values.
  JsonValue();
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;
  ~JsonValue();

  JsonKind kind = JsonKind::null;
  /// The value's text as written.
  std::string_view raw;
  /// Unescaped text of a string; other scalars as written.
  std::string text;
  CountedVector<JsonValue> items;
  CountedVector<std::pair<std::string, JsonValue>> members;

  [[nodiscard]] bool is_scalar() const noexcept { return is_json_scalar(kind); }
  /// Returns the last member with that key, or null.
  [[nodiscard]] const JsonValue* member(std::string_view name) const;
  /// Returns an element, counted from the end if negative; null if there is none.
  [[nodiscard]] const JsonValue* item(std::int64_t index) const;
};

/// Parses the text into a tree and charges its memory, many times that of the text, to the account
/// if there is one. Pre: the text is a valid JSON value, like stored json and jsonb.
JsonValue take_json_apart(std::string_view text, MemoryAccount* account);

/// Returns the value in jsonb's spelling. Pre: it came from jsonb, or its numbers have no
/// exponents.
std::string print_json(const JsonValue& value);

}  // namespace swizzle::sql
