#include "sql-lite-frontend/types/json/json_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

/// Error messages of malformed JSON. The parser only notes that a text is invalid; the text is then
/// scanned again here, token by token, so that valid text pays nothing for positions.
namespace swizzle::sql {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
/// True for characters that PostgreSQL counts to a bare word, valid or not.
bool continues_word(char c) {
  const char low = to_lower(c);
  return (low >= 'a' && low <= 'z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
std::optional<std::uint32_t> hexadecimal(char c) {
  c = to_lower(c);
  if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  return std::nullopt;
}

class FaultyToken {
 public:
  FaultyToken(std::string_view text, std::size_t at, JsonEscapes escapes)
      : text_(text), escapes_(escapes) {
    while (at < text.size() && is_blank(text[at])) ++at;
    begin_ = end_ = at;
  }

  [[noreturn]] void fail(JsonExpected expected) {
    if (begin_ == text_.size()) fail_with("The input string ended unexpectedly.");
    const char first = text_[begin_];
    if (first == '"') {
      read_string();
    } else if (first == '-' || is_digit(first)) {
      read_number();
    } else if (std::string_view{"{}[],:"}.contains(first)) {
      end_ = begin_ + 1;
    } else {
      read_word();
    }
    const auto found = [&](std::string_view wanted) {
      return fmt::format("Expected {}, but found \"{}\".", wanted, token());
    };
    switch (expected) {
      case JsonExpected::value:
        fail_with(found("JSON value"));
      case JsonExpected::end:
        fail_with(found("end of input"));
      case JsonExpected::colon:
        fail_with(found("\":\""));
      case JsonExpected::string:
        fail_with(found("string"));
      case JsonExpected::array_next:
        fail_with(found("\",\" or \"]\""));
      case JsonExpected::object_first:
        fail_with(found("string or \"}\""));
      case JsonExpected::object_next:
        fail_with(found("\",\" or \"}\""));
    }
    std::unreachable();
  }

 private:
  [[nodiscard]] std::string_view token() const { return text_.substr(begin_, end_ - begin_); }
  [[nodiscard]] std::size_t end_of_letter(std::size_t at) const {
    return std::min(text_.size(), at + utf8_length(text_[at]));
  }

  /// Returns PostgreSQL's CONTEXT: the line up to the token, shortened at its beginning if long.
  [[nodiscard]] std::string context() const {
    constexpr std::size_t kShown = 50;
    constexpr std::size_t kNearlyAll = 3;
    const std::string_view before = text_.substr(0, begin_);
    const std::size_t newline = before.rfind('\n');
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    std::size_t from = line;
    while (end_ - from >= kShown) from = end_of_letter(from);
    if (from - line <= kNearlyAll) from = line;
    const bool is_cut = end_ < text_.size() && text_[end_] != '\n' && text_[end_] != '\r';
    return fmt::format("JSON data, line {}: {}{}{}", std::ranges::count(before, '\n') + 1,
                       from > line ? "..." : "", text_.substr(from, end_ - from),
                       is_cut ? "..." : "");
  }
  [[noreturn]] void fail_with(std::string detail, SqlState state, std::string_view message) const {
    SqlError error{state, std::string{message}};
    error.fields().where = context();
    throw std::move(error).with_detail(std::move(detail));
  }
  [[noreturn]] void fail_with(std::string detail) const {
    fail_with(std::move(detail), sqlstate::invalid_text_representation,
              "invalid input syntax for type json");
  }
  [[noreturn]] void fail_token() const {
    fail_with(fmt::format("Token \"{}\" is invalid.", token()));
  }

  void read_word() {
    while (end_ < text_.size() && continues_word(text_[end_])) ++end_;
    if (end_ == begin_) {
      ++end_;
      fail_token();
    }
    if (token() != "true" && token() != "false" && token() != "null") fail_token();
  }

  bool skip_digits() {
    const std::size_t before = end_;
    while (end_ < text_.size() && is_digit(text_[end_])) ++end_;
    return end_ > before;
  }
  bool take(std::string_view letters) {
    if (end_ == text_.size() || !letters.contains(text_[end_])) return false;
    ++end_;
    return true;
  }
  void read_number() {
    static_cast<void>(take("-"));
    bool is_right = take("0") || skip_digits();
    if (take(".")) is_right = skip_digits() && is_right;
    if (take("eE")) {
      static_cast<void>(take("+-"));
      is_right = skip_digits() && is_right;
    }
    for (; end_ < text_.size() && continues_word(text_[end_]); ++end_) is_right = false;
    if (!is_right) fail_token();
  }

  void read_string() {
    ++end_;
    bool is_open = false;  // Set after a high surrogate, until its low one.
    const auto need_low = [&] {
      if (!is_open) return;
      end_ = end_of_letter(end_);
      fail_with("Unicode low surrogate must follow a high surrogate.");
    };
    for (;;) {
      if (end_ == text_.size()) fail_token();
      const char c = text_[end_];
      if (static_cast<unsigned char>(c) < 0x20)
        fail_with(fmt::format("Character with value 0x{:02x} must be escaped.", c));
      if (c == '\\') {
        ++end_;
        if (end_ == text_.size()) fail_token();
        if (text_[end_] == 'u') {
          is_open = read_unicode(is_open);
          continue;
        }
        need_low();
        check_escape();
      } else {
        need_low();
      }
      if (c == '"') break;
      ++end_;
    }
    ++end_;
  }

  void check_escape() {
    if (std::string_view{"\"\\/bfnrt"}.contains(text_[end_])) return;
    // PostgreSQL reports the escape's letter alone as the token.
    const std::size_t letter = end_;
    end_ = end_of_letter(letter);
    fail_with(
        fmt::format("Escape sequence \"\\{}\" is invalid.", text_.substr(letter, end_ - letter)));
  }

  /// Reads \uXXXX from the u on. Returns true if it is a high surrogate, whose low one must follow.
  bool read_unicode(bool is_open) {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      ++end_;
      if (end_ == text_.size()) fail_token();
      const auto digit = hexadecimal(text_[end_]);
      if (!digit) {
        end_ = end_of_letter(end_);
        fail_with("\"\\u\" must be followed by four hexadecimal digits.");
      }
      code = code * 16 + *digit;
    }
    ++end_;
    if (escapes_ == JsonEscapes::kept) return false;
    const bool is_high = code >= 0xd800 && code < 0xdc00;
    const bool is_low = code >= 0xdc00 && code < 0xe000;
    if (is_high && is_open) fail_with("Unicode high surrogate must not follow a high surrogate.");
    if (is_low != is_open) fail_with("Unicode low surrogate must follow a high surrogate.");
    if (code == 0)
      fail_with("\\u0000 cannot be converted to text.", SqlState{"22P05"},
                "unsupported Unicode escape sequence");
    return is_high;
  }

  std::string_view text_;
  JsonEscapes escapes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

void fail_json(std::string_view text, std::size_t at, JsonExpected expected, JsonEscapes escapes) {
  FaultyToken{text, at, escapes}.fail(expected);
}

void require_readable_strings(std::string_view json) {
  if (!json.contains("\\u")) return;
  for (std::size_t i = json.find('"'); i < json.size(); i = json.find('"', i + 1)) {
    const std::size_t begin = i;
    const auto fail = [&] { fail_json(json, begin, JsonExpected::value, JsonEscapes::read); };
    bool is_open = false;  // Set after a high surrogate, until its low one.
    for (++i; json[i] != '"'; ++i) {
      const bool is_escape = json[i] == '\\';
      if (is_escape) ++i;
      if (!is_escape || json[i] != 'u') {
        if (is_open) fail();
        continue;
      }
      std::uint32_t code = 0;
      for (const char digit : json.substr(i + 1, 4))
        code = code * 16 + hexadecimal(digit).value_or(0);
      i += 4;
      const bool is_high = code >= 0xd800 && code < 0xdc00;
      const bool is_low = code >= 0xdc00 && code < 0xe000;
      if ((is_high && is_open) || is_low != is_open || code == 0) fail();
      is_open = is_high;
    }
    if (is_open) fail();
  }
}

}  // namespace swizzle::sql
