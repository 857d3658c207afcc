#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/json/json_parts.h"

namespace swizzle::sql {

/// Event of a JSON parser.
struct JsonEvent {
  enum class Kind : std::uint8_t { begin, key, scalar, end };
  Kind kind = Kind::scalar;
  std::string_view raw;    ///< key or scalar as written; bracket of a beginning
  bool in_object = false;  ///< of a scalar: it is a member's value, not an array's element
};

/// Streaming (SAX-like) JSON parser: reads the text once, at any depth, with no memory but a stack.
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

/// Unescapes a JSON string.
std::string json_text_of(std::string_view quoted);

}  // namespace swizzle::sql
