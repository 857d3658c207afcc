#include "sql-lite-frontend/types/regex/regex_lexer.h"

#include <charconv>
#include <limits>

#include "sql-lite-frontend/types/regex/regex_tree.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr int kOctal = 8;
constexpr int kDecimal = 10;
constexpr int kHexadecimal = 16;
constexpr std::size_t kAnyDigits = 255;

[[noreturn]] void invalid_escape() {
  invalid_regex("invalid escape \\ sequence");
}
[[noreturn]] void unbalanced_bracket() {
  invalid_regex("brackets [] not balanced");
}
[[noreturn]] void invalid_count() {
  invalid_regex("invalid repetition count(s)");
}

RegexToken token(RegexToken::Kind kind) {
  return {.kind = kind};
}

RegexToken class_token(CharacterClass of_class, bool is_complement) {
  return {.kind = RegexToken::Kind::class_of_characters,
          .is_complement = is_complement,
          .of_class = of_class};
}

}  // namespace

RegexToken RegexLexer::next(std::uint32_t groups) {
  if (options_.expanded && options_.grammar != RegexGrammar::literal) skip_blanks();
  RegexToken found;
  if (!rest_.empty()) {
    switch (options_.grammar) {
      case RegexGrammar::literal:
        found = of_character(take_character());
        break;
      case RegexGrammar::basic:
        found = basic();
        break;
      default:
        found = extended(groups);
    }
  }
  last_ = found.kind;
  is_at_begin_ = false;
  return found;
}

char32_t RegexLexer::take_character() {
  const char32_t character = decode_character(rest_);
  rest_.remove_prefix(utf8_length(rest_.front()));
  return character;
}

RegexToken RegexLexer::of_character(char32_t character) {
  return {.kind = RegexToken::Kind::character, .character = character};
}

bool RegexLexer::takes_after(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

void RegexLexer::skip_blanks() {
  while (!rest_.empty()) {
    if (is_space(rest_.front())) {
      rest_.remove_prefix(1);
    } else if (rest_.front() == '#') {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else {
      return;
    }
  }
}

RegexToken RegexLexer::quantifier(RegexToken::Kind kind) {
  return {.kind = kind, .is_lazy = is_advanced() && takes_after('?')};
}

RegexToken RegexLexer::open_bracket() {
  for (const auto& [text, kind] :
       {std::pair{std::string_view{"[:<:]]"}, RegexToken::Kind::word_begin},
        std::pair{std::string_view{"[:>:]]"}, RegexToken::Kind::word_end}}) {
    if (!rest_.starts_with(text)) continue;
    rest_.remove_prefix(text.size());
    return token(kind);
  }
  return token(RegexToken::Kind::bracket);
}

RegexToken RegexLexer::open() {
  constexpr std::string_view kNoOperand = "quantifier operand invalid";
  if (!is_advanced() || !takes_after('?'))
    return {.kind = RegexToken::Kind::open, .is_capturing = true};
  if (rest_.empty()) invalid_regex(kNoOperand);
  const char c = rest_.front();
  rest_.remove_prefix(1);
  switch (c) {
    case ':':
      return {.kind = RegexToken::Kind::open, .is_capturing = false};
    case '=':
    case '!':
      return {.kind = RegexToken::Kind::look_ahead, .is_negative = c == '!'};
    case '<':
      if (takes_after('=')) return {.kind = RegexToken::Kind::look_behind, .is_negative = false};
      if (takes_after('!')) return {.kind = RegexToken::Kind::look_behind, .is_negative = true};
      invalid_regex(kNoOperand);
    default:
      invalid_regex(kNoOperand);
  }
}

RegexToken RegexLexer::extended(std::uint32_t groups) {
  constexpr std::string_view kComment = "(?#";
  while (is_advanced() && rest_.starts_with(kComment)) {
    const std::size_t end = rest_.find(')');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (options_.expanded) skip_blanks();
  }
  if (rest_.empty()) return token(RegexToken::Kind::end);
  const char32_t c = take_character();
  switch (c) {
    case '|':
      return token(RegexToken::Kind::bar);
    case '*':
      return quantifier(RegexToken::Kind::star);
    case '+':
      return quantifier(RegexToken::Kind::plus);
    case '?':
      return quantifier(RegexToken::Kind::question);
    case '{':
      if (options_.expanded) skip_blanks();
      if (rest_.empty() || !is_digit(rest_.front())) return of_character(c);
      return token(RegexToken::Kind::bound);
    case '(':
      return open();
    case ')':
      return {.kind = RegexToken::Kind::close, .character = c};
    case '[':
      return open_bracket();
    case '.':
      return token(RegexToken::Kind::any);
    case '^':
      return token(RegexToken::Kind::line_begin);
    case '$':
      return token(RegexToken::Kind::line_end);
    case '\\':
      break;
    default:
      return of_character(c);
  }
  if (rest_.empty()) invalid_escape();
  return is_advanced() ? escape(groups) : of_character(take_character());
}

RegexToken RegexLexer::basic() {
  const bool begins = is_at_begin_ || last_ == RegexToken::Kind::open;
  const char32_t c = take_character();
  switch (c) {
    case '*':
      return begins ? of_character(c) : token(RegexToken::Kind::star);
    case '[':
      return open_bracket();
    case '.':
      return token(RegexToken::Kind::any);
    case '^':
      return begins ? token(RegexToken::Kind::line_begin) : of_character(c);
    case '$':
      if (options_.expanded) skip_blanks();
      return rest_.empty() || rest_.starts_with("\\)") ? token(RegexToken::Kind::line_end)
                                                       : of_character(c);
    case '\\':
      return basic_escape();
    default:
      return of_character(c);
  }
}

RegexToken RegexLexer::basic_escape() {
  if (rest_.empty()) invalid_escape();
  const char32_t c = take_character();
  switch (c) {
    case '{':
      return token(RegexToken::Kind::bound);
    case '(':
      return {.kind = RegexToken::Kind::open, .is_capturing = true};
    case ')':
      return {.kind = RegexToken::Kind::close, .character = c};
    case '<':
      return token(RegexToken::Kind::word_begin);
    case '>':
      return token(RegexToken::Kind::word_end);
    default:
      if (c >= '1' && c <= '9')
        return {.kind = RegexToken::Kind::reference, .number = static_cast<std::uint32_t>(c - '0')};
      return of_character(c);
  }
}

RegexToken RegexLexer::escape(std::uint32_t groups) {
  if (is_digit(rest_.front())) return escaped_number(groups);
  const char32_t c = take_character();
  switch (c) {
    case 'a':
      return of_character('\a');
    case 'A':
      return token(RegexToken::Kind::text_begin);
    case 'b':
      return of_character('\b');
    case 'B':
      return of_character('\\');
    case 'c': {
      if (rest_.empty()) invalid_escape();
      constexpr char32_t kControl = 0x1f;
      return of_character(take_character() & kControl);
    }
    case 'd':
    case 'D':
      return class_token(CharacterClass::digit, c == 'D');
    case 'e':
      return of_character('\x1b');
    case 'f':
      return of_character('\f');
    case 'm':
      return token(RegexToken::Kind::word_begin);
    case 'M':
      return token(RegexToken::Kind::word_end);
    case 'n':
      return of_character('\n');
    case 'r':
      return of_character('\r');
    case 's':
    case 'S':
      return class_token(CharacterClass::space, c == 'S');
    case 't':
      return of_character('\t');
    case 'u':
      return of_character(take_code(4, 4, kHexadecimal));
    case 'U':
      return of_character(take_code(8, 8, kHexadecimal));
    case 'v':
      return of_character('\v');
    case 'w':
    case 'W':
      return class_token(CharacterClass::word, c == 'W');
    case 'x':
      return of_character(take_code(1, kAnyDigits, kHexadecimal));
    case 'y':
      return token(RegexToken::Kind::word_edge);
    case 'Y':
      return token(RegexToken::Kind::no_word_edge);
    case 'Z':
      return token(RegexToken::Kind::text_end);
    default:
      break;
  }
  if (c <= '\x7f' && is_alpha(static_cast<char>(c))) invalid_escape();
  return of_character(c);
}

/// Takes a reference to a group, if it is one digit or names a group that has begun; otherwise a
/// character by its octal number. Pre: the rest begins with a digit.
RegexToken RegexLexer::escaped_number(std::uint32_t groups) {
  const std::string_view digits = rest_;
  if (rest_.front() != '0') {
    const char32_t number = take_code(1, kAnyDigits, kDecimal);
    const bool is_one_digit = rest_.size() + 1 == digits.size();
    if (is_one_digit || (number > 0 && number <= groups))
      return {.kind = RegexToken::Kind::reference, .number = number};
    rest_ = digits;
  }
  constexpr std::size_t kOctalDigits = 3;
  constexpr char32_t kLargest = 0xff;
  const char32_t code = take_code(1, kOctalDigits, kOctal);
  if (code <= kLargest) return of_character(code);
  rest_ = digits.substr(kOctalDigits - 1);
  return of_character(code / kOctal);
}

/// Takes the number of `least` to `most` digits at the front.
char32_t RegexLexer::take_code(std::size_t least, std::size_t most, int base) {
  constexpr std::uint32_t kLargest = 0x7ffffffe;
  const std::string_view digits = rest_.substr(0, most);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  const auto length = static_cast<std::size_t>(end - digits.data());
  if (error != std::errc{} || length < least || code > kLargest) invalid_escape();
  rest_.remove_prefix(length);
  return code;
}

std::uint32_t RegexLexer::take_count() {
  constexpr std::uint32_t kMostRepeats = 255;
  std::uint32_t count = 0;
  while (!rest_.empty() && is_digit(rest_.front())) {
    count = count * kDecimal + static_cast<std::uint32_t>(rest_.front() - '0');
    if (count > kMostRepeats) invalid_count();
    rest_.remove_prefix(1);
  }
  if (options_.expanded) skip_blanks();
  if (rest_.empty()) invalid_regex("braces {} not balanced");
  return count;
}

RegexBound RegexLexer::bound() {
  if (options_.expanded) skip_blanks();
  if (rest_.empty()) invalid_regex("braces {} not balanced");
  if (!is_digit(rest_.front())) invalid_count();
  RegexBound bound;
  bound.least = bound.most = take_count();
  if (takes_after(',')) {
    bound.is_range = true;
    if (options_.expanded) skip_blanks();
    if (rest_.empty()) invalid_regex("braces {} not balanced");
    bound.most = is_digit(rest_.front()) ? take_count() : RegexNode::kUnlimited;
    if (bound.least > bound.most) invalid_count();
  }
  if (options_.grammar == RegexGrammar::basic && !takes_after('\\')) invalid_count();
  if (!takes_after('}')) invalid_count();
  bound.is_lazy = is_advanced() && takes_after('?');
  return bound;
}

bool RegexLexer::take_complement() {
  return takes_after('^');
}

BracketToken RegexLexer::bracket(bool is_first) {
  if (rest_.empty()) unbalanced_bracket();
  const char32_t c = take_character();
  switch (c) {
    case '\\': {
      if (!is_advanced()) break;
      if (rest_.empty()) invalid_escape();
      const RegexToken escaped = escape(0);
      if (escaped.kind == RegexToken::Kind::character)
        return {.kind = BracketToken::Kind::character, .character = escaped.character};
      if (escaped.kind != RegexToken::Kind::class_of_characters) invalid_escape();
      return {.kind = BracketToken::Kind::of_class,
              .is_complement = escaped.is_complement,
              .of_class = escaped.of_class};
    }
    case '-':
      if (!is_first && !rest_.starts_with(']')) return {.kind = BracketToken::Kind::dash};
      break;
    case ']':
      if (!is_first) return {.kind = BracketToken::Kind::close};
      break;
    case '[':
      if (rest_.empty()) unbalanced_bracket();
      if (rest_.front() == '.' || rest_.front() == '=' || rest_.front() == ':') {
        const char kind = rest_.front();
        rest_.remove_prefix(1);
        return element(kind);
      }
      break;
    default:
      break;
  }
  return {.kind = BracketToken::Kind::character, .character = c};
}

/// Takes what stands between "[." and ".]", "[=" and "=]", or "[:" and ":]".
BracketToken RegexLexer::element(char kind) {
  const std::size_t end = rest_.find(std::string{kind, ']'});
  if (end == std::string_view::npos) unbalanced_bracket();
  const std::string_view name = rest_.substr(0, end);
  rest_.remove_prefix(end + 2);
  if (kind == ':') {
    const auto of_class = character_class(name);
    if (!of_class) invalid_regex("invalid character class");
    return {.kind = BracketToken::Kind::of_class, .of_class = *of_class};
  }
  const auto character = collating_element(name);
  if (!character) invalid_regex("invalid collating element");
  return {.kind = kind == '.' ? BracketToken::Kind::element : BracketToken::Kind::equivalence,
          .character = *character};
}

}  // namespace swizzle::sql
