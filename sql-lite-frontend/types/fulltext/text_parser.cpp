#include "sql-lite-frontend/types/fulltext/text_parser.h"

#include <algorithm>

#include "base/runtime/long_work.h"

namespace swizzle::sql {
namespace {

constexpr TokenKindInfo kTokenKinds[] = {
    {TokenKind::asciiword, "asciiword", "Word, all ASCII"},
    {TokenKind::word, "word", "Word, all letters"},
    {TokenKind::numword, "numword", "Word, letters and digits"},
    {TokenKind::email, "email", "Email address"},
    {TokenKind::url, "url", "URL"},
    {TokenKind::host, "host", "Host"},
    {TokenKind::sfloat, "sfloat", "Scientific notation"},
    {TokenKind::version, "version", "Version number"},
    {TokenKind::hword_numpart, "hword_numpart", "Hyphenated word part, letters and digits"},
    {TokenKind::hword_part, "hword_part", "Hyphenated word part, all letters"},
    {TokenKind::hword_asciipart, "hword_asciipart", "Hyphenated word part, all ASCII"},
    {TokenKind::blank, "blank", "Space symbols"},
    {TokenKind::tag, "tag", "XML tag"},
    {TokenKind::protocol, "protocol", "Protocol head"},
    {TokenKind::numhword, "numhword", "Hyphenated word, letters and digits"},
    {TokenKind::asciihword, "asciihword", "Hyphenated word, all ASCII"},
    {TokenKind::hword, "hword", "Hyphenated word, all letters"},
    {TokenKind::url_path, "url_path", "URL path"},
    {TokenKind::file, "file", "File or path name"},
    {TokenKind::float_, "float", "Decimal notation"},
    {TokenKind::int_, "int", "Signed integer"},
    {TokenKind::uint, "uint", "Unsigned integer"},
    {TokenKind::entity, "entity", "XML entity"},
};

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_ascii_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// Non-ASCII characters are not classified.
constexpr bool is_letter(char c) noexcept {
  return is_ascii_letter(c) || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
constexpr bool is_ascii_alnum(char c) noexcept {
  return is_ascii_letter(c) || is_digit(c);
}
constexpr bool is_alnum(char c) noexcept {
  return is_letter(c) || is_digit(c);
}
constexpr bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_url_letter(char c) noexcept {
  if (c <= 0x20 || c >= 0x7f) return false;
  return std::string_view{"\"<>\\^`{|}"}.find(c) == std::string_view::npos;
}
constexpr bool is_tag_letter(char c) noexcept {
  return is_ascii_alnum(c) || is_space(c) ||
         std::string_view{"=-_#/:.&?%~"}.find(c) != std::string_view::npos;
}

/// Shape of a run of letters and digits.
struct WordShape {
  bool has_digit = false;
  bool has_other = false;  ///< letters beyond ASCII
  void add(char c) noexcept {
    has_digit |= is_digit(c);
    has_other |= !is_digit(c) && !is_ascii_letter(c);
  }
  [[nodiscard]] TokenKind choose(TokenKind ascii, TokenKind other, TokenKind mixed) const noexcept {
    if (has_digit) return mixed;
    return has_other ? other : ascii;
  }
};

}  // namespace

std::span<const TokenKindInfo> token_kinds() noexcept {
  return kTokenKinds;
}

TextToken TextParser::take(TokenKind kind, std::size_t end) {
  const TextToken token{kind, text_.substr(at_, end - at_)};
  at_ = end;
  return token;
}

/// Reads a tag or comment: <name attributes>, </name>, <!-- … -->.
std::optional<TextToken> TextParser::take_tag() {
  std::size_t at = at_ + 1;
  if (text_.substr(at).starts_with("!--")) {
    const std::size_t end = no_comment_end_ ? std::string_view::npos : text_.find("-->", at + 3);
    if (end == std::string_view::npos) {
      no_comment_end_ = true;
      return std::nullopt;
    }
    return take(TokenKind::tag, end + 3);
  }
  if (letter(at) == '/' || letter(at) == '?' || letter(at) == '!') ++at;
  if (!is_ascii_letter(letter(at))) return std::nullopt;
  char quote = 0;
  for (; at < text_.size(); ++at) {
    const char c = text_[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '>') {
      return take(TokenKind::tag, at + 1);
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (!is_tag_letter(c)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// Reads an entity: &name; &#12; &#xab;
std::optional<TextToken> TextParser::take_entity() {
  std::size_t at = at_ + 1;
  const std::size_t begin = letter(at) == '#' ? at + (letter(at + 1) == 'x' ? 2 : 1) : at;
  const bool is_number = begin != at;
  const bool is_hexadecimal = begin == at + 2;
  for (at = begin; at < text_.size(); ++at) {
    const char c = text_[at];
    const bool fits =
        is_number ? is_digit(c) || (is_hexadecimal && is_ascii_letter(c) && (c | 0x20) <= 'f')
                  : is_ascii_letter(c) || c == ':' || c == '_' ||
                        (at != begin && (is_digit(c) || c == '.' || c == '-'));
    if (!fits) break;
  }
  if (at == begin || letter(at) != ';') return std::nullopt;
  return take(TokenKind::entity, at + 1);
}

std::optional<TextToken> TextParser::take_number(bool is_signed) {
  std::size_t at = at_ + (is_signed ? 1 : 0);
  const auto digits = [&](std::size_t from) {
    while (is_digit(letter(from))) ++from;
    return from;
  };
  if (!is_digit(letter(at))) return std::nullopt;
  at = digits(at);
  TokenKind kind = is_signed ? TokenKind::int_ : TokenKind::uint;
  if (letter(at) == '.' && is_digit(letter(at + 1))) {
    at = digits(at + 1);
    kind = TokenKind::float_;
    const bool is_version = letter(at) == '.' && is_digit(letter(at + 1));
    if (is_signed && is_version) return std::nullopt;
    while (letter(at) == '.' && is_digit(letter(at + 1))) {
      at = digits(at + 1);
      kind = TokenKind::version;
    }
  }
  if (kind != TokenKind::version && (letter(at) | 0x20) == 'e') {
    std::size_t power = at + 1;
    if (letter(power) == '-' || letter(power) == '+') ++power;
    if (is_digit(letter(power))) {
      at = digits(power);
      kind = TokenKind::sfloat;
    }
  }
  // A number followed by letters is a word, by a slash a file.
  if (kind == TokenKind::uint && (is_letter(letter(at)) || letter(at) == '/')) {
    const bool is_path = letter(at) == '/' && (is_ascii_alnum(letter(at + 1)) ||
                                               letter(at + 1) == '_' || letter(at + 1) == '.');
    if (is_path || letter(at) != '/') return std::nullopt;
  }
  return take(kind, at);
}

/// Returns the end of the longest host name at `begin`, or `begin`: at least two labels of letters,
/// digits, hyphens and underscores, separated by points, the last one of letters only.
std::size_t TextParser::host_end(std::size_t begin, std::size_t& run_end) const {
  std::size_t good = begin;
  std::size_t at = begin;
  run_end = begin;
  if (!is_ascii_alnum(letter(at))) return begin;
  while (at < text_.size()) {
    std::size_t label = at;
    bool only_letters = true;
    while (is_ascii_alnum(letter(at)) ||
           ((letter(at) == '-' || letter(at) == '_') && is_ascii_alnum(letter(at + 1)))) {
      const bool is_last = label != begin && at >= label + 2 && only_letters;
      if (is_last && !is_ascii_alnum(letter(at))) good = at;
      only_letters = only_letters && is_ascii_letter(letter(at));
      ++at;
    }
    if (label != begin && only_letters && at >= label + 2) good = at;
    if (letter(at) != '.' || !is_ascii_alnum(letter(at + 1))) break;
    ++at;
  }
  run_end = at;
  return good;
}

std::size_t TextParser::behind_port(std::size_t end) const {
  if (letter(end) != ':' || !is_digit(letter(end + 1))) return end;
  ++end;
  while (is_digit(letter(end))) ++end;
  return end;
}

std::optional<TextToken> TextParser::take_host() {
  if (at_ < no_host_before_) return std::nullopt;
  std::size_t run_end = 0;
  std::size_t end = host_end(at_, run_end);
  if (end == at_) {
    no_host_before_ = run_end;
    return std::nullopt;
  }
  end = behind_port(end);
  if (letter(end) != '/' || !is_url_letter(letter(end + 1))) return take(TokenKind::host, end);
  std::size_t path = end + 1;
  while (is_url_letter(letter(path))) ++path;
  parts_.push_back({TokenKind::url_path, text_.substr(end, path - end)});
  parts_.push_back({TokenKind::host, text_.substr(at_, end - at_)});
  return take(TokenKind::url, path);
}

std::optional<TextToken> TextParser::take_email() {
  if (at_ < no_email_before_) return std::nullopt;
  std::size_t at = at_;
  while (is_ascii_alnum(letter(at)) ||
         (at != at_ && std::string_view{".-_"}.find(letter(at)) != std::string_view::npos &&
          is_ascii_alnum(letter(at + 1)))) {
    ++at;
  }
  std::size_t run_end = 0;
  const std::size_t end = letter(at) == '@' ? host_end(at + 1, run_end) : at + 1;
  if (end == at + 1) {
    no_email_before_ = at;
    return std::nullopt;
  }
  return take(TokenKind::email, behind_port(end));
}

std::optional<TextToken> TextParser::take_protocol() {
  std::size_t at = at_;
  while (is_ascii_letter(letter(at))) ++at;
  if (at == at_ || text_.substr(at, 3) != "://") return std::nullopt;
  return take(TokenKind::protocol, at + 3);
}

/// Returns the end of a bare name before the first slash or point, or after the point if it is no
/// number: ASCII letters, or letters and digits.
std::optional<std::size_t> TextParser::bare_name_end() const {
  WordShape shape;
  bool has_letter = false;
  std::size_t at = at_;
  for (; is_alnum(letter(at)); ++at) {
    shape.add(text_[at]);
    has_letter |= is_letter(text_[at]);
  }
  if (shape.has_other && !shape.has_digit) return std::nullopt;
  if (letter(at) == '.' && has_letter) return at;
  if (letter(at) == '/') return at;
  return std::nullopt;
}

/// Reads a file name: it contains a slash or a point.
std::optional<TextToken> TextParser::take_file() {
  const auto may_follow = [&](std::size_t of) {
    return is_ascii_alnum(letter(of)) || letter(of) == '_';
  };
  std::size_t at = at_;
  bool is_file = false;
  if (is_alnum(letter(at))) {
    const auto end = bare_name_end();
    if (!end) return std::nullopt;
    at = *end;
  } else if (letter(at) == '~') {
    ++at;
    is_file = may_follow(at);
  } else {
    while (letter(at) == '.' && at < at_ + 2) ++at;
    const bool is_parent = at == at_ + 2 && (at == text_.size() || is_space(letter(at)));
    if (is_parent) return take(TokenKind::file, at);
    if (letter(at) != '/') return std::nullopt;
  }
  for (;; ++at) {
    const char c = letter(at);
    if (is_file && (is_ascii_alnum(c) || c == '_' || c == '-')) continue;
    const bool is_point = c == '.' && at != at_ && may_follow(at + 1);
    std::size_t behind = at + 1;
    if (c == '/') {
      while (letter(behind) == '.' && behind < at + 3) ++behind;
      if (letter(behind) == '~') ++behind;
    }
    const bool is_slash =
        c == '/' && (may_follow(behind) || (letter(behind) == '/' && behind > at + 1));
    if (!is_point && !is_slash) break;
    is_file = true;
    if (is_slash) at = behind - 1;
  }
  if (!is_file) return std::nullopt;
  return take(TokenKind::file, at);
}

/// Reads two or more words joined by hyphens. A part of digits alone is no word.
std::optional<TextToken> TextParser::take_hyphenated() {
  WordShape whole;
  std::size_t words = 0;
  std::size_t end = at_;
  for (std::size_t at = at_;; ++at) {
    const std::size_t begin = at;
    WordShape part;
    bool has_letter = false;
    for (; is_alnum(letter(at)); ++at) {
      part.add(text_[at]);
      has_letter |= is_letter(text_[at]);
    }
    if (!has_letter) break;
    whole.has_digit |= part.has_digit;
    whole.has_other |= part.has_other;
    ++words;
    end = at;
    yield_point(at - begin);
    if (letter(at) != '-') break;
  }
  if (words < 2) return std::nullopt;
  hyphenated_ = text_.substr(at_, end - at_);
  const TextToken token =
      take(whole.choose(TokenKind::asciihword, TokenKind::hword, TokenKind::numhword), end);
  // A hyphen after it is a separator, not a sign.
  if (letter(end) == '-') parts_.push_back(take_blank());
  return token;
}

TextToken TextParser::take_hyphenated_part() {
  WordShape shape;
  std::size_t end = 0;
  for (; end < hyphenated_.size() && is_alnum(hyphenated_[end]); ++end) shape.add(hyphenated_[end]);
  TextToken part{
      shape.choose(TokenKind::hword_asciipart, TokenKind::hword_part, TokenKind::hword_numpart),
      {}};
  if (end == 0) {
    part.kind = TokenKind::blank;
    end = 1;
  }
  part.text = hyphenated_.substr(0, end);
  hyphenated_.remove_prefix(end);
  return part;
}

TextToken TextParser::take_word() {
  WordShape shape;
  std::size_t at = at_;
  for (; is_alnum(letter(at)); ++at) shape.add(text_[at]);
  return take(shape.choose(TokenKind::asciiword, TokenKind::word, TokenKind::numword), at);
}

TextToken TextParser::take_blank() {
  std::size_t at = at_ + 1;
  const auto begins_something = [](char c) {
    return is_alnum(c) || std::string_view{"<&-+/"}.find(c) != std::string_view::npos;
  };
  while (at < text_.size() && !begins_something(text_[at])) ++at;
  return take(TokenKind::blank, at);
}

std::optional<TextToken> TextParser::take_special() {
  switch (text_[at_]) {
    case '<':
      return take_tag();
    case '&':
      return take_entity();
    case '-':
    case '+':
      return take_number(true);
    case '~':
    case '/':
    case '.':
      return take_file();
    default:
      return std::nullopt;
  }
}

std::optional<TextToken> TextParser::next() {
  if (!hyphenated_.empty()) return take_hyphenated_part();
  if (!parts_.empty()) {
    const TextToken part = parts_.back();
    parts_.pop_back();
    return part;
  }
  if (at_ >= text_.size()) return std::nullopt;
  const std::size_t begin = at_;
  std::optional<TextToken> token;
  const char first = text_[at_];
  if (!is_alnum(first)) {
    token = take_special();
    if (!token) token = take_blank();
  } else {
    if (is_ascii_alnum(first)) {
      token = take_email();
      if (!token) token = take_host();
      if (!token) token = take_protocol();
    }
    if (!token && is_digit(first)) token = take_number(false);
    if (!token) token = take_file();
    if (!token) token = take_hyphenated();
    if (!token) token = take_word();
  }
  constexpr std::size_t kWorkOfLetter = 10;
  yield_point((at_ - begin) * kWorkOfLetter);
  return token;
}

}  // namespace swizzle::sql
