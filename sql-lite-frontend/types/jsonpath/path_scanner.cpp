#include "sql-lite-frontend/types/jsonpath/path_scanner.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/numeric/number_base.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Kind = PathToken::Kind;

constexpr bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
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

std::size_t PathScanner::word_size(std::size_t begin) const {
  std::size_t end = begin;
  while (end < text_.size() && !is_blank(text_[end]) && !is_special(text_[end]) &&
         text_[end] != '"') {
    ++end;
  }
  return end - begin;
}

/// Reads digits of a base, which single underscores may separate.
void PathScanner::skip_digits(int base) {
  const auto is_of_base = [&](std::size_t at) {
    const int digit = at < text_.size() ? hex_digit(text_[at]) : -1;
    return digit >= 0 && digit < base;
  };
  while (is_of_base(at_) || (at_ > 0 && at_ < text_.size() && text_[at_] == '_' &&
                             is_of_base(at_ - 1) && is_of_base(at_ + 1))) {
    ++at_;
  }
}

PathToken PathScanner::read_number() {
  const std::size_t begin = at_;
  std::string_view rest = text_.substr(begin);
  const int base = take_base(rest);
  if (const int first = rest.empty() ? -1 : hex_digit(rest[0]);
      base != 10 && first >= 0 && first < base) {
    at_ = begin + 2;
    skip_digits(base);
    const std::string_view whole = text_.substr(begin, at_ - begin);
    Arena arena;
    std::string plain;
    append_numeric(plain, numeric_from_text(arena, whole));
    return {Kind::integer, std::move(plain), whole};
  }
  Kind kind = Kind::integer;
  if (text_[at_] == '0') {
    ++at_;
  } else {
    skip_digits(10);
  }
  if (at_ < text_.size() && text_[at_] == '.') {
    kind = Kind::number;
    ++at_;
    skip_digits(10);
  }
  if (at_ < text_.size() && (text_[at_] | 0x20) == 'e') {
    std::size_t power = at_ + 1;
    if (power < text_.size() && (text_[power] == '+' || text_[power] == '-')) ++power;
    if (power >= text_.size() || !is_digit(text_[power])) return junk_or_name(begin, power);
    kind = Kind::number;
    at_ = power;
    skip_digits(10);
  }
  const bool has_junk =
      at_ < text_.size() && !is_blank(text_[at_]) && !is_special(text_[at_]) && text_[at_] != '"';
  if (has_junk) return junk_or_name(begin, at_ + 1);
  const std::string_view whole = text_.substr(begin, at_ - begin);
  std::string plain{whole};
  std::erase(plain, '_');
  return {kind, std::move(plain), whole};
}

/// Reads a name where that is longer than the number with the junk behind it, up to `end`; throws
/// otherwise.
PathToken PathScanner::junk_or_name(std::size_t begin, std::size_t end) {
  if (word_size(begin) <= end - begin) {
    fail("trailing junk after numeric literal", text_.substr(begin, end - begin));
  }
  at_ = begin;
  return read_name(Kind::name);
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
  yield_point(kWorkOfToken);
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
