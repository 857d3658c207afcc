#pragma once

#include <cstdint>
#include <string_view>

namespace swizzle::sql {

/// Token that the parser expected at the position of a syntax error.
enum class JsonExpected : std::uint8_t {
  value,
  end,
  colon,
  string,
  array_next,    ///< a comma or the array's end
  object_first,  ///< a name or the object's end
  object_next,   ///< a comma or the object's end
};
/// Treatment of escapes in strings: decoded, as by jsonb, or kept as written.
enum class JsonEscapes : std::uint8_t { kept, read };

/// Throws PostgreSQL's error for the token that begins at `at`: either the token itself is
/// malformed, or it is in the wrong place. 22P02, 22P05.
[[noreturn]] void fail_json(std::string_view text, std::size_t at, JsonExpected expected,
                            JsonEscapes escapes);

/// Throws the error of decoding the strings: json accepts undecodable escapes, a lone "\ud83d" and
/// "\u0000", until a function needs the text. Pre: the text is valid json.
void require_readable_strings(std::string_view json);

}  // namespace swizzle::sql
