// unistr()
#include <charconv>
#include <optional>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kFirstHigh = 0xd800;
constexpr std::uint32_t kFirstLow = 0xdc00;
constexpr std::uint32_t kLastLow = 0xdfff;

bool is_high_surrogate(std::uint32_t code) {
  return code >= kFirstHigh && code < kFirstLow;
}
bool is_low_surrogate(std::uint32_t code) {
  return code >= kFirstLow && code <= kLastLow;
}

[[noreturn]] void refuse_pair() {
  throw SqlError{sqlstate::syntax_error, "invalid Unicode surrogate pair"};
}

/// Reads so many hexadecimal digits.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + digits;
  const auto [at, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

/// Removes an escape from the front, with its backslash, and returns its number.
std::uint32_t take_escape(std::string_view& rest) {
  struct Form {
    std::string_view begin;
    std::size_t digits;
  };
  for (const auto& [begin, digits] :
       {Form{"\\", 4}, Form{"\\u", 4}, Form{"\\+", 6}, Form{"\\U", 8}}) {
    if (!rest.starts_with(begin)) continue;
    const auto number = hexadecimal(rest.substr(begin.size()), digits);
    if (!number) continue;
    rest.remove_prefix(begin.size() + digits);
    return *number;
  }
  throw SqlError{sqlstate::syntax_error, "invalid Unicode escape"}.with_hint(
      "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
}

/// Appends characters; puts pairs of surrogates together.
class Characters {
 public:
  explicit Characters(Arena& arena) : text_(arena) {}

  void add_plain(std::string_view text) {
    if (high_ != 0) refuse_pair();
    text_ += text;
  }
  void add(std::uint32_t code) {
    constexpr std::uint32_t kLast = 0x10ffff;
    if (code == 0 || code > kLast)
      throw_error(sqlstate::invalid_parameter_value, "invalid Unicode code point: {:04X}", code);
    if (is_low_surrogate(code) != (high_ != 0)) refuse_pair();
    if (is_high_surrogate(code)) {
      high_ = code;
      return;
    }
    if (is_low_surrogate(code)) code = 0x10000 + ((high_ - kFirstHigh) << 10U) + (code - kFirstLow);
    high_ = 0;
    std::string character;
    append_character(character, code);
    text_ += character;
  }
  Value finish() {
    if (high_ != 0) refuse_pair();
    return text_.finish();
  }

 private:
  TextBuilder text_;
  std::uint32_t high_ = 0;  ///< waits for its low one
};

Value unistr(FunctionContext& context, std::span<const Value> a) {
  std::string_view rest = a[0].as_text();
  Characters characters{context.arena};
  while (!rest.empty()) {
    const std::string_view plain = rest.substr(0, rest.find('\\'));
    if (!plain.empty()) {
      characters.add_plain(plain);
      rest.remove_prefix(plain.size());
    } else if (rest.starts_with("\\\\")) {
      characters.add_plain("\\");
      rest.remove_prefix(2);
    } else {
      characters.add(take_escape(rest));
    }
  }
  return characters.finish();
}

constexpr ScalarEntry kUnicodeEscapesEntries[] = {{"unistr(text)", &unistr}};

}  // namespace

std::span<const ScalarEntry> unicode_escape_functions() {
  return kUnicodeEscapesEntries;
}

}  // namespace swizzle::sql
