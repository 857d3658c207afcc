#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// A JSON value taken apart, for functions that look into it. Views refer to the text.
struct JsonValue {
  // Defined where the value is whole: it holds pairs with values.
  JsonValue();
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;
  ~JsonValue();

  JsonKind kind = JsonKind::null;
  /// Text of the value as it is written.
  std::string_view raw;
  /// Letters of a string; of other scalars as they are written.
  std::string text;
  CountedVector<JsonValue> items;
  CountedVector<std::pair<std::string, JsonValue>> members;

  [[nodiscard]] bool is_scalar() const noexcept { return is_json_scalar(kind); }
  /// The last member of that name, or null.
  [[nodiscard]] const JsonValue* member(std::string_view name) const;
  /// Counted from the end when negative; null when there is none.
  [[nodiscard]] const JsonValue* item(std::int64_t index) const;
};

/// Parses the text into a JsonValue and charges its memory, many times the text's, to the account,
/// if there is one. Pre: the text is one JSON value, as json and jsonb are once they are stored.
JsonValue take_json_apart(std::string_view text, MemoryAccount* account);

/// The value as jsonb spells it. Pre: it came from jsonb, or its numbers have no exponents.
std::string print_json(const JsonValue& value);

}  // namespace swizzle::sql
