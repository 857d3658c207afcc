#include "sql-lite-frontend/types/text/regex_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/text/word_edges.h"

namespace swizzle::sql {

void invalid_regex(std::string_view why) {
  throw_error(sqlstate::invalid_regular_expression, "invalid regular expression: {}", why);
}

namespace {

constexpr std::string_view kLetterFlags[] = {"\x04", "\x01", "\x02", "\x03"};

/// Returns RE2's content of a bracket for a class of characters. Empty: RE2's own is meant.
std::string_view content_of_class(std::string_view name, Letters letters) noexcept {
  struct Content {
    std::string_view name, icu, c_utf8, unicode;
  };
  constexpr Content kContents[] = {
      {"alpha", "\\pL", "\\pL\\p{Nl}", "\\pL\\p{Nl}"},
      {"upper", "\\p{Lu}", "\\p{Lu}", "\\p{Lu}"},
      {"lower", "\\p{Ll}", "\\p{Ll}", "\\p{Ll}"},
      {"digit", "\\p{Nd}", "0-9", "\\p{Nd}"},
      {"alnum", "\\pL\\p{Nd}", "\\pL\\p{Nl}0-9", "\\pL\\p{Nl}\\p{Nd}"},
      {"word", "\\pL\\p{Nd}_", "\\pL\\p{Nl}0-9_", "\\pL\\p{Nl}\\p{Nd}_"},
      {"punct", "\\pP", "\\pP\\pS", "\\pP"},
      {"graph", "\\pL\\pM\\pN\\pP\\pS", "\\pL\\pM\\pN\\pP\\pS", "\\pL\\pM\\pN\\pP\\pS"},
      {"print", "\\pL\\pM\\pN\\pP\\pS\\pZ", "\\pL\\pM\\pN\\pP\\pS\\p{Zs}",
       "\\pL\\pM\\pN\\pP\\pS\\p{Zs}"},
      {"space", "\\pZ\\x09-\\x0d\\x1c-\\x1f\\x{85}", "\\pZ\\x09-\\x0d\\x{85}",
       "\\pZ\\x09-\\x0d\\x{85}"},
  };
  for (const Content& content : kContents) {
    if (content.name != name) continue;
    switch (letters) {
      case Letters::ascii:
        break;
      case Letters::icu:
        return content.icu;
      case Letters::c_utf8:
        return content.c_utf8;
      case Letters::unicode:
        return content.unicode;
    }
  }
  return {};
}

/// Pre: an ASCII letter.
constexpr char other_case(char letter) noexcept {
  return static_cast<char>(letter ^ 0x20);
}

}  // namespace

std::string_view regex_flag_of(Letters letters) noexcept {
  return kLetterFlags[static_cast<std::size_t>(letters)];
}

std::string fold_ascii_letters(std::string_view quoted) {
  std::string folded;
  for (const char c : quoted) {
    if (!is_alpha(c)) {
      folded += c;
      continue;
    }
    folded += {'[', c, other_case(c), ']'};
  }
  return folded;
}

void apply_regex_flag(RegexOptions& options, char flag) {
  if (regex_flag_of(Letters::ascii).front() == flag) {
    options.ascii_case = true;
    return;
  }
  for (const Letters letters : {Letters::icu, Letters::c_utf8, Letters::unicode}) {
    if (regex_flag_of(letters).front() != flag) continue;
    options.letters = letters;
    return;
  }
  switch (flag) {
    case 'i':
      options.ignore_case = true;
      return;
    case 'c':
      options.ignore_case = false;
      return;
    case 'm':
    case 'n':
      options.newline_stops_dot = options.newline_anchors = true;
      return;
    case 'p':
      options.newline_stops_dot = true;
      return;
    case 'w':
      options.newline_anchors = true;
      return;
    case 's':
      options.newline_stops_dot = options.newline_anchors = false;
      return;
    case 'x':
      options.expanded = true;
      return;
    case 't':
      options.expanded = false;
      return;
    case 'q':
      options.literal = true;
      return;
    case 'b':
      throw SqlError{sqlstate::feature_not_supported,
                     "basic regular expressions (option \"b\") are not supported"};
    case 'e':
      throw SqlError{sqlstate::feature_not_supported,
                     "extended regular expressions without escapes (option \"e\") are not "
                     "supported"};
    default:
      throw_error(sqlstate::invalid_parameter_value, "invalid regular expression option: \"{}\"",
                  std::string_view{&flag, 1});
  }
}

std::size_t regex_nesting(std::string_view pattern) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char letter : pattern) {
    if (letter == '(') deepest = std::max(deepest, ++depth);
    if (letter == ')' && depth > 0) --depth;
  }
  return deepest;
}

namespace {

/// Translator of PostgreSQL's dialect into RE2's.
class Translator {
 public:
  Translator(std::string_view pattern, const RegexOptions& options)
      : pattern_{pattern},
        rest_{pattern},
        options_{options},
        folds_{options.ignore_case && options.ascii_case} {}

  TranslatedRegex translate() {
    while (!rest_.empty()) step();
    TranslatedRegex made;
    made.text = text();
    made.is_lazy = lazy_;
    // As in PostgreSQL, the first quantifier decides; a pattern with alternatives prefers the
    // longest.
    made.is_short = levels_.front().preference() == Preference::shortest;
    if (made.is_short) made.shortest = with_lazy(greedy_ends_);
    made.edge = edge_;
    if (levels_.front().has_alternatives && edge_ != TranslatedRegex::Edge::none) {
      refuse_word_edge(edge_ == TranslatedRegex::Edge::beginning ? "\\m" : "\\M");
    }
    return made;
  }

 private:
  enum class Preference : std::uint8_t { none, longest, shortest };
  /// Expression in parentheses, or the whole pattern.
  struct Level {
    std::size_t begin = 0;
    Preference first = Preference::none;
    bool has_alternatives = false;
    [[nodiscard]] Preference preference() const {
      return has_alternatives ? Preference::longest : first;
    }
  };
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// Returns the pattern. Greedy quantifiers within a part that prefers the shortest match become
  /// lazy.
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> within;
    std::size_t next = 0;
    std::size_t behind = 0;
    std::vector<Range> ranges = shortened_;
    std::ranges::sort(ranges, {}, &Range::begin);
    for (const std::size_t end : greedy_ends_) {
      while (next < ranges.size() && ranges[next].begin < end) {
        behind = std::max(behind, ranges[next++].end);
      }
      if (end <= behind) within.push_back(end);
    }
    return with_lazy(within);
  }

  /// Returns `out_` with the quantifiers that end at these offsets made lazy.
  [[nodiscard]] std::string with_lazy(std::span<const std::size_t> quantifiers) const {
    std::string text;
    std::size_t from = 0;
    for (const std::size_t end : quantifiers) {
      text.append(out_, from, end - from);
      text += '?';
      from = end;
    }
    text.append(out_, from);
    return text;
  }

  void step() {
    const char c = rest_.front();
    if (c == '(') {
      levels_.push_back({out_.size()});
      if (rest_.starts_with("(?")) return group();
      ++groups_;
      return take(1);
    }
    if (c == '|') {
      levels_.back().has_alternatives = true;
      return take(1);
    }
    if (c == ')' && levels_.size() > 1) {
      const Level closed = levels_.back();
      levels_.pop_back();
      take(1);
      return quantify(closed.begin, closed.preference());
    }
    const std::size_t begin = out_.size();
    if (atom()) quantify(begin, Preference::none);
  }

  /// Takes the quantifier after an atom, if there is one, and records which match the atom prefers.
  void quantify(std::size_t begin, Preference own) {
    const std::size_t size = quantifier_size();
    if (size > 0) {
      const bool is_fixed = rest_.front() == '{' && !rest_.substr(0, size).contains(',');
      take(size);
      const bool is_lazy = rest_.starts_with('?');
      if (is_lazy) rest_.remove_prefix(1);
      if (!is_fixed) {
        own = is_lazy ? Preference::shortest : Preference::longest;
        lazy_ |= is_lazy;
        if (is_lazy) {
          out_ += '?';
          shortened_.push_back({begin, out_.size()});
        } else {
          greedy_ends_.push_back(out_.size());
        }
      }
    }
    Level& level = levels_.back();
    if (level.first == Preference::none) level.first = own;
  }
  [[nodiscard]] std::size_t quantifier_size() const {
    if (rest_.empty()) return 0;
    const char c = rest_.front();
    if (c == '*' || c == '+' || c == '?') return 1;
    if (c != '{' || rest_.size() < 2 || !is_digit(rest_[1])) return 0;
    require_small_counts();
    return rest_.find('}') + 1;  // 0 for none
  }

  /// Takes an atom, which a quantifier may follow. False for blanks and comments of the expanded
  /// syntax, which are left out.
  bool atom() {
    const char c = rest_.front();
    if (c == '\\') {
      escape();
      return true;
    }
    if (c == '[') {
      bracket();
      return true;
    }
    if (options_.expanded && (is_space(c) || c == '#')) {
      const std::size_t line = c == '#' ? rest_.find('\n') : 0;
      rest_.remove_prefix(line == std::string_view::npos ? rest_.size() : line + 1);
      return false;
    }
    if (c == '{') require_small_counts();
    if (folds_ && is_alpha(c)) {
      replace(1, std::string{'[', c, other_case(c), ']'});
      return true;
    }
    take(std::min(rest_.size(), utf8_length(c)));
    return true;
  }

  /// Checks the counts of a bound. Pre: the rest begins with its "{".
  void require_small_counts() const {
    constexpr unsigned kMostRepeats = 255;
    const char* at = rest_.data() + 1;
    const char* const end = rest_.data() + rest_.size();
    for (int i = 0; i < 2 && at != end && is_digit(*at); ++i) {
      unsigned count = 0;
      const auto [behind, error] = std::from_chars(at, end, count);
      if (error != std::errc{} || count > kMostRepeats) {
        invalid_regex("invalid repetition count(s)");
      }
      at = behind != end && *behind == ',' ? behind + 1 : end;
    }
  }

  void take(std::size_t count) {
    out_.append(rest_.substr(0, count));
    rest_.remove_prefix(count);
  }
  void replace(std::size_t count, std::string_view with) {
    out_.append(with);
    rest_.remove_prefix(count);
  }

  /// Takes the escape at the front if it names a character, and returns that. Nothing for a class,
  /// a constraint or a group, which stay.
  std::optional<std::uint32_t> take_escaped_character() {
    const char c = rest_[1];
    constexpr std::string_view kNames = "abefnrtvB";
    constexpr std::string_view kMeant = "\a\b\x1b\f\n\r\t\v\\";
    if (const std::size_t at = kNames.find(c); at != std::string_view::npos) {
      rest_.remove_prefix(2);
      return static_cast<unsigned char>(kMeant[at]);
    }
    switch (c) {
      case 'c': {
        // Only the low bits of the letter count.
        if (rest_.size() < 3) invalid_regex("invalid escape \\ sequence");
        const auto letter = static_cast<unsigned char>(rest_[2]);
        rest_.remove_prefix(3);
        return letter & 0x1fU;
      }
      case 'u':
        return take_code(2, 4, 4, 16);
      case 'U':
        return take_code(2, 8, 8, 16);
      case 'x':
        return take_code(2, 1, 255, 16);
      default:
        break;
    }
    if (!is_digit(c) || names_group()) return std::nullopt;
    constexpr std::string_view kLargest = "377";
    return take_code(1, 1, rest_.substr(1, 3) <= kLargest ? 3 : 2, 8);
  }

  /// Returns the number of `least` to `most` digits that begin after `prefix` bytes and end the
  /// escape.
  std::uint32_t take_code(std::size_t prefix, std::size_t least, std::size_t most, int base) {
    constexpr std::uint32_t kLast = 0x10ffff;
    const std::string_view digits = rest_.substr(prefix, most);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
    const auto length = static_cast<std::size_t>(end - digits.data());
    if (error != std::errc{} || length < least || code > kLast) {
      invalid_regex("invalid escape \\ sequence");
    }
    rest_.remove_prefix(prefix + length);
    return code;
  }

  /// True for the number of a group. A single digit other than 0 always is one; several digits are
  /// if that many groups precede. Pre: at a backslash before a digit.
  [[nodiscard]] bool names_group() const {
    if (rest_[1] == '0') return false;
    unsigned number = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto read = std::from_chars(rest_.data() + 1, end, number);
    return read.ptr == rest_.data() + 2 || (read.ec == std::errc{} && number <= groups_);
  }

  static bool is_ascii_letter(std::uint32_t code) {
    return code < 0x80 && is_alpha(static_cast<char>(code));
  }
  void put_character(std::uint32_t code) { out_ += fmt::format("\\x{{{:x}}}", code); }

  /// Returns the content of the class that an escape names, if it is not ASCII's.
  [[nodiscard]] std::string_view content_of_escape(char c) const {
    constexpr std::string_view kEscapes = "dDsSwW";
    constexpr std::string_view kClasses[] = {"digit", "space", "word"};
    const std::size_t at = kEscapes.find(c);
    if (at == std::string_view::npos) return {};
    return content_of_class(kClasses[at / 2], options_.letters);
  }

  void escape() {
    if (rest_.size() < 2) invalid_regex("invalid escape \\ sequence");
    if (const auto character = take_escaped_character()) {
      if (folds_ && is_ascii_letter(*character)) {
        out_ += std::string{'[', static_cast<char>(*character),
                            other_case(static_cast<char>(*character)), ']'};
        return;
      }
      return put_character(*character);
    }
    const char c = rest_[1];
    if (const auto content = content_of_escape(c); !content.empty()) {
      const bool is_complement = c < 'a';
      return replace(2, fmt::format("[{}{}]", is_complement ? "^" : "", content));
    }
    switch (c) {
      case 'A':
      case 'd':
      case 'D':
      case 'w':
      case 'W':
        return take(2);
      case 's':
        return replace(2, "[[:space:]]");
      case 'S':
        return replace(2, "[^[:space:]]");
      case 'y':
        return replace(2, "\\b");
      case 'm':
        return word_begin(2);
      case 'M':
        return word_end(2);
      case 'Y':
        return replace(2, "\\B");
      case 'Z':
        return replace(2, "\\z");
      case '<':
      case '>':
        return replace(2, std::string{c});
      default:
        if (is_digit(c))
          throw SqlError{sqlstate::feature_not_supported,
                         "back references in regular expressions are not supported"};
        if (is_alpha(c)) invalid_regex("invalid escape \\ sequence");
        // A letter outside ASCII has no special meaning after a backslash.
        if (static_cast<unsigned char>(c) >= 0x80) return rest_.remove_prefix(1);
        return take(2);
    }
  }

  void escape_in_bracket() {
    if (const auto character = take_escaped_character()) return put_character(*character);
    const char c = rest_[1];
    if (const auto content = content_of_escape(c); !content.empty()) {
      if (c >= 'a') return replace(2, content);
      throw_error(sqlstate::feature_not_supported,
                  "\\{} in a bracket expression is not supported under this collation", c);
    }
    if (c == 's' || c == 'S') return replace(2, c == 's' ? "[:space:]" : "[:^space:]");
    if (std::string_view{"dDwW"}.find(c) != std::string_view::npos) return take(2);
    if (is_alpha(c) || is_digit(c)) invalid_regex("invalid escape \\ sequence");
    if (static_cast<unsigned char>(c) >= 0x80) return rest_.remove_prefix(1);
    take(2);
  }

  /// RE2 has \b alone, which matches at both edges of a word. The neighbouring atoms may tell which
  /// edge it is. Otherwise every match must begin (\m) or end (\M) there, and is checked against
  /// the text.
  void word_begin(std::size_t size) {
    const bool is_sure = begins_with(Beside::word, rest_.substr(size)) ||
                         (!options_.expanded && ends_with(Beside::other, before()));
    replace(size, "\\b");
    if (!is_sure) leave_edge("\\m", TranslatedRegex::Edge::beginning);
  }
  void word_end(std::size_t size) {
    const bool is_sure = ends_with(Beside::word, before()) ||
                         (!options_.expanded && begins_with(Beside::other, rest_.substr(size)));
    replace(size, "\\b");
    if (!is_sure) leave_edge("\\M", TranslatedRegex::Edge::end);
  }
  [[nodiscard]] std::string_view before() const {
    return pattern_.substr(0, pattern_.size() - rest_.size());
  }
  void leave_edge(std::string_view name, TranslatedRegex::Edge edge) {
    if (out_ != "\\b" || quantifier_size() > 0) refuse_word_edge(name);
    edge_ = edge;
  }
  [[noreturn]] static void refuse_word_edge(std::string_view edge) {
    throw_error(sqlstate::feature_not_supported,
                "{} in a regular expression is not supported beside what may be a letter or not",
                edge);
  }

  void bracket() {
    if (rest_.starts_with("[[:<:]]")) return word_begin(7);
    if (rest_.starts_with("[[:>:]]")) return word_end(7);
    take(1);
    if (rest_.starts_with('^')) {
      take(1);
      // In newline-sensitive matching, a complemented set does not match a newline.
      if (options_.newline_stops_dot) out_ += "\\n";
    }
    bool first = true;
    while (!rest_.empty() && (first || rest_.front() != ']')) {
      first = false;
      if (rest_.starts_with("[:")) {
        const std::size_t end = rest_.find(":]");
        if (end == std::string_view::npos) invalid_regex("brackets [] not balanced");
        const std::string_view name = rest_.substr(2, end - 2);
        if (folds_ && (name == "upper" || name == "lower")) {
          replace(end + 2, "[:alpha:]");
          continue;
        }
        const auto content = content_of_class(name, options_.letters);
        content.empty() ? take(end + 2) : replace(end + 2, content);
      } else if (rest_.starts_with("[.") || rest_.starts_with("[=")) {
        throw SqlError{sqlstate::feature_not_supported,
                       "collating elements in regular expressions are not supported"};
      } else if (folds_) {
        folded_item();
      } else if (rest_.front() == '[') {
        replace(1, "\\[");
      } else if (rest_.front() == '\\' && rest_.size() > 1) {
        escape_in_bracket();
      } else {
        take(1);
      }
    }
    if (rest_.empty()) invalid_regex("brackets [] not balanced");
    take(1);
  }

  /// Takes a character or a range of a bracket, and adds the other case of its ASCII letters.
  void folded_item() {
    const auto first = bracket_character();
    if (!first) return;
    auto last = first;
    if (rest_.size() > 1 && rest_.front() == '-' && rest_[1] != ']') {
      take(1);
      last = bracket_character();
      if (!last) return;
    }
    for (std::uint32_t code = 'A'; code <= 'Z'; ++code) {
      const std::uint32_t small = code | 0x20U;
      if (code >= *first && code <= *last) out_ += static_cast<char>(small);
      if (small >= *first && small <= *last) out_ += static_cast<char>(code);
    }
  }
  /// Takes a character of a bracket. Nothing for a class or what has another meaning.
  std::optional<std::uint32_t> bracket_character() {
    if (rest_.front() == '[') {
      replace(1, "\\[");
      return '[';
    }
    if (rest_.front() == '\\' && rest_.size() > 1) {
      if (const auto escaped = take_escaped_character()) {
        put_character(*escaped);
        return escaped;
      }
      escape_in_bracket();
      return std::nullopt;
    }
    const std::size_t size = std::min(rest_.size(), utf8_length(rest_.front()));
    // Only ASCII's letters have another case here, and all others are beyond them.
    const bool is_ascii = static_cast<unsigned char>(rest_.front()) < 0x80;
    const std::uint32_t code = is_ascii ? static_cast<unsigned char>(rest_.front()) : 0x80U;
    take(size);
    return code;
  }

  void group() {
    for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"})
      if (rest_.starts_with(look))
        throw SqlError{sqlstate::feature_not_supported,
                       "look-around in regular expressions is not supported"};
    if (rest_.starts_with("(?#")) {
      const std::size_t end = rest_.find(')');
      if (end == std::string_view::npos) invalid_regex("parentheses () not balanced");
      rest_.remove_prefix(end + 1);
      levels_.pop_back();
      return;
    }
    take(2);
  }

  std::string_view pattern_;
  std::string_view rest_;
  RegexOptions options_;
  bool folds_;  ///< ASCII's letters stand for both of their cases
  std::string out_;
  bool lazy_ = false;
  TranslatedRegex::Edge edge_ = TranslatedRegex::Edge::none;
  unsigned groups_ = 0;  ///< capturing groups so far
  std::vector<Level> levels_ = std::vector<Level>(1);
  std::vector<std::size_t> greedy_ends_;  ///< in `out_`, ascending
  std::vector<Range> shortened_;          ///< atoms with a lazy quantifier
};

}  // namespace

TranslatedRegex translate_regex(std::string_view pattern, const RegexOptions& options) {
  return Translator{pattern, options}.translate();
}

}  // namespace swizzle::sql
