#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/json/json_parts.h"

namespace swizzle::sql {

/// Event met while reading JSON text from its beginning to its end.
struct JsonEvent {
  enum class Kind : std::uint8_t { begin, key, scalar, end };
  Kind kind = Kind::scalar;
  std::string_view raw;    ///< of a key or scalar, as it is written; of a beginning its bracket
  bool in_object = false;  ///< of a scalar: it is a member's value, not an array's element
};

/// Goes through JSON text once, however deep it is, and makes nothing of its own but a stack.
/// Pre: the text is valid.
class JsonEvents {
 public:
  explicit JsonEvents(std::string_view json) noexcept : json_(json) {}
  std::optional<JsonEvent> next();

 private:
  [[nodiscard]] std::string_view take_token();

  std::string_view json_;
  std::size_t at_ = 0;
  std::vector<char> open_;
  bool awaits_key_ = false;
};

/// Returns the text of a JSON string, unescaped.
std::string json_text_of(std::string_view quoted);

}  // namespace swizzle::sql
