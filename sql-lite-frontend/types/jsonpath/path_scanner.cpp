#include "sql-lite-frontend/types/jsonpath/path_scanner.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Kind = PathToken::Kind;

constexpr bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
/// True for characters that end a name.
constexpr bool is_special(char c) noexcept {
  return std::string_view{"?%$.[]{}()|&!=<>@#,*:-+/"}.find(c) != std::string_view::npos;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xe0U | code >> 12U);
    } else {
      put(0xf0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3fU));
    }
    put(0x80U | (code >> 6U & 0x3fU));
  }
  put(0x80U | (code & 0x3fU));
}

}  // namespace

void PathScanner::fail(std::string_view what, std::string_view at) {
  if (at.empty()) throw_error(sqlstate::syntax_error, "{} at end of jsonpath input", what);
  throw_error(sqlstate::syntax_error, "{} at or near \"{}\" of jsonpath input", what, at);
}

void PathScanner::skip_blanks() {
  for (;;) {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (text_.substr(at_, 2) != "/*") return;
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) fail("unexpected end of comment", {});
    at_ = end + 2;
  }
}

std::uint32_t PathScanner::read_hexadecimal(std::size_t digits) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const char low = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(low - 'a') + 10;
    } else {
      fail("invalid Unicode escape sequence", text_.substr(at_ - i - 2, i + 2));
    }
  }
  return code;
}

/// Reads a code point, after \u: four digits (of a surrogate pair two such escapes), or up to six
/// in braces.
void PathScanner::read_code_point(std::string& out) {
  const auto one = [&]() -> std::uint32_t {
    if (at_ >= text_.size() || text_[at_] != '{') return read_hexadecimal(4);
    const std::size_t end = text_.find('}', at_);
    const std::size_t digits = end == std::string_view::npos ? 0 : end - at_ - 1;
    if (digits == 0 || digits > 6) fail("invalid Unicode escape sequence", text_.substr(at_, 1));
    ++at_;
    const std::uint32_t code = read_hexadecimal(digits);
    ++at_;
    return code;
  };
  std::uint32_t code = one();
  const auto refuse = [](std::string_view detail) {
    throw sql_error(sqlstate::invalid_text_representation, "invalid input syntax for type {}",
                    "jsonpath")
        .with_detail(std::string{detail});
  };
  if (code >= 0xd800 && code < 0xdc00) {
    if (text_.substr(at_, 2) != "\\u") {
      refuse("Unicode low surrogate must follow a high surrogate.");
    }
    at_ += 2;
    const std::uint32_t low = one();
    if (low < 0xdc00 || low > 0xdfff) {
      refuse("Unicode low surrogate must follow a high surrogate.");
    }
    code = 0x10000 + ((code & 0x3ffU) << 10U) + (low & 0x3ffU);
  } else if (code >= 0xdc00 && code < 0xe000) {
    refuse("Unicode low surrogate must follow a high surrogate.");
  }
  if (code == 0) {
    throw sql_error(SqlState{"22P05"}, "unsupported Unicode escape sequence")
        .with_detail("\\u0000 cannot be converted to text.");
  }
  if (code > 0x10ffff) fail("invalid Unicode escape sequence", text_.substr(at_ - 1, 1));
  append_utf8(code, out);
}

/// Reads an escape. Pre: at the backslash.
void PathScanner::read_escape(std::string& out) {
  if (++at_ >= text_.size()) fail("unexpected end after backslash", "\\");
  const char c = text_[at_++];
  switch (c) {
    case 'b':
      return out.push_back('\b');
    case 'f':
      return out.push_back('\f');
    case 'n':
      return out.push_back('\n');
    case 'r':
      return out.push_back('\r');
    case 't':
      return out.push_back('\t');
    case 'v':
      return out.push_back('\v');
    case 'x': {
      const std::uint32_t code = read_hexadecimal(2);
      if (code == 0) fail("invalid hex escape sequence", text_.substr(at_ - 4, 4));
      return append_utf8(code, out);
    }
    case 'u':
      return read_code_point(out);
    default:
      return out.push_back(c);
  }
}

/// Reads a quoted string or variable. Pre: at the opening quote.
PathToken PathScanner::read_string(Kind kind) {
  ++at_;
  PathToken token{kind, {}, {}};
  for (;;) {
    if (at_ >= text_.size()) fail("unterminated quoted string", {});
    if (text_[at_] == '"') break;
    if (text_[at_] == '\\') {
      read_escape(token.text);
    } else {
      token.text += text_[at_++];
    }
  }
  token.written = text_.substr(at_++, 1);
  return token;
}

PathToken PathScanner::read_number() {
  const std::size_t begin = at_;
  Kind kind = Kind::integer;
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  digits();
  if (at_ < text_.size() && text_[at_] == '.') {
    kind = Kind::number;
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] | 0x20) == 'e') {
    std::size_t power = at_ + 1;
    if (power < text_.size() && (text_[power] == '+' || text_[power] == '-')) ++power;
    if (power >= text_.size() || !is_digit(text_[power])) {
      fail("trailing junk after numeric literal", text_.substr(begin, power - begin));
    }
    kind = Kind::number;
    at_ = power;
    digits();
  }
  const bool has_junk =
      at_ < text_.size() && !is_blank(text_[at_]) && !is_special(text_[at_]) && text_[at_] != '"';
  if (has_junk) fail("trailing junk after numeric literal", text_.substr(begin, at_ + 1 - begin));
  const std::string_view whole = text_.substr(begin, at_ - begin);
  if (whole.size() > 1 && whole[0] == '0' && is_digit(whole[1])) {
    fail("trailing junk after numeric literal", whole.substr(0, 2));
  }
  return {kind, std::string{whole}, whole};
}

PathToken PathScanner::read_name(Kind kind) {
  const std::size_t begin = at_;
  PathToken token{kind, {}, {}};
  while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '"' &&
         (!is_special(text_[at_]))) {
    if (text_[at_] == '\\') {
      read_escape(token.text);
    } else {
      token.text += text_[at_++];
    }
  }
  // PostgreSQL's message for an invalid variable name includes the character that ends it.
  if (kind == Kind::variable) {
    token.written = text_.substr(begin - 1, at_ - begin + 1);
  } else if (at_ < text_.size() && is_blank(text_[at_])) {
    token.written = text_.substr(at_, 1);
  }
  return token;
}

PathToken PathScanner::next() {
  skip_blanks();
  constexpr std::size_t kWorkOfToken = 100;
  count_work(kWorkOfToken);
  if (at_ >= text_.size()) return {};
  const char c = text_[at_];
  const char behind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (c == '"') return read_string(Kind::string);
  if (c == '$') {
    if (behind == '"') {
      ++at_;
      return read_string(Kind::variable);
    }
    if (behind != '\0' && !is_blank(behind) && !is_special(behind)) {
      ++at_;
      return read_name(Kind::variable);
    }
  }
  if (is_digit(c) || (c == '.' && is_digit(behind))) return read_number();
  if (!is_special(c)) return read_name(Kind::name);
  std::size_t size = 1;
  for (const std::string_view two : {"&&", "||", "**", "==", "!=", "<>", "<=", ">="}) {
    if (text_.substr(at_, 2) == two) size = 2;
  }
  const std::string_view written = text_.substr(at_, size);
  at_ += size;
  return {Kind::symbol, std::string{written}, written};
}

}  // namespace swizzle::sql
