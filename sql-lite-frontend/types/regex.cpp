#include "sql-lite-frontend/types/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/runtime.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text_scan.h"
#include "sql-lite-frontend/types/utf8.h"
#include "sql-lite-frontend/types/word_edges.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void invalid_regex(std::string_view why) {
  throw_error(sqlstate::invalid_regular_expression, "invalid regular expression: {}", why);
}

struct Options {
  bool ignore_case = false;
  bool newline_stops_dot = false;
  bool newline_anchors = false;
  bool expanded = false;
  bool literal = false;
};

void apply_flag(Options& options, char flag) {
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
    case 'e':
      return;
    default:
      throw_error(sqlstate::invalid_parameter_value, "invalid regular expression option: \"{}\"",
                  std::string_view{&flag, 1});
  }
}

/// How deep parentheses stand in one another; brackets' and quoted ones count as well.
std::size_t nesting(std::string_view pattern) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char letter : pattern) {
    if (letter == '(') deepest = std::max(deepest, ++depth);
    if (letter == ')' && depth > 0) --depth;
  }
  return deepest;
}

/// Rewrites PostgreSQL's dialect into RE2's.
class Translator {
 public:
  Translator(std::string_view pattern, const Options& options)
      : pattern_{pattern}, rest_{pattern}, options_{options} {}

  std::string translate() {
    while (!rest_.empty()) step();
    return std::move(out_);
  }
  [[nodiscard]] bool has_lazy_quantifier() const noexcept { return lazy_; }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '\\') return escape();
    if (c == '[') return bracket();
    if (c == '(' && rest_.starts_with("(?")) return group();
    if (c == '{') require_small_counts();
    if (options_.expanded && (is_space(c) || c == '#')) {
      const std::size_t line = c == '#' ? rest_.find('\n') : 0;
      rest_.remove_prefix(line == std::string_view::npos ? rest_.size() : line + 1);
      return;
    }
    if ((c == '*' || c == '+' || c == '?' || c == '}') && rest_.size() > 1 && rest_[1] == '?')
      lazy_ = true;
    take(1);
  }

  /// At the "{" of a bound.
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

  void escape() {
    if (rest_.size() < 2) invalid_regex("invalid escape \\ sequence");
    const char c = rest_[1];
    switch (c) {
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
      case 'e':
        return replace(2, "\\x1b");
      case 'u':
        if (rest_.size() < 6) invalid_regex("invalid escape \\ sequence");
        out_ += "\\x{" + std::string{rest_.substr(2, 4)} + "}";
        rest_.remove_prefix(6);
        return;
      case '<':
      case '>':
        return replace(2, std::string{c});
      default:
        if (c >= '1' && c <= '9')
          throw SqlError{sqlstate::feature_not_supported,
                         "back references in regular expressions are not supported"};
        return take(2);
    }
  }

  /// \b is the one or the other: which, what stands beside it says.
  void word_begin(std::size_t size) {
    if (!begins_with_word(rest_.substr(size))) refuse_word_edge("\\m");
    replace(size, "\\b");
  }
  void word_end(std::size_t size) {
    if (!ends_with_word(pattern_.substr(0, pattern_.size() - rest_.size()))) {
      refuse_word_edge("\\M");
    }
    replace(size, "\\b");
  }
  [[noreturn]] static void refuse_word_edge(std::string_view edge) {
    throw_error(sqlstate::feature_not_supported,
                "{} in a regular expression is not supported beside what need not be a letter",
                edge);
  }

  void bracket() {
    if (rest_.starts_with("[[:<:]]")) return word_begin(7);
    if (rest_.starts_with("[[:>:]]")) return word_end(7);
    take(1);
    if (rest_.starts_with('^')) {
      take(1);
      // With newline-sensitive matching a complement does not contain the newline.
      if (options_.newline_stops_dot) out_ += "\\n";
    }
    bool first = true;
    while (!rest_.empty() && (first || rest_.front() != ']')) {
      first = false;
      if (rest_.starts_with("[:")) {
        const std::size_t end = rest_.find(":]");
        if (end == std::string_view::npos) invalid_regex("brackets [] not balanced");
        take(end + 2);
      } else if (rest_.starts_with("[.") || rest_.starts_with("[=")) {
        throw SqlError{sqlstate::feature_not_supported,
                       "collating elements in regular expressions are not supported"};
      } else if (rest_.front() == '[') {
        replace(1, "\\[");
      } else if (rest_.front() == '\\' && rest_.size() > 1) {
        take(2);
      } else {
        take(1);
      }
    }
    if (rest_.empty()) invalid_regex("brackets [] not balanced");
    take(1);
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
      return;
    }
    take(2);
  }

  std::string_view pattern_;
  std::string_view rest_;
  Options options_;
  std::string out_;
  bool lazy_ = false;
};

std::string quote(std::string_view text) {
  return re2::RE2::QuoteMeta({text.data(), text.size()});
}

/// A few letters can ask for a large program.
std::shared_ptr<const re2::RE2> compile(const std::string& pattern,
                                        const re2::RE2::Options& settings) {
  constexpr std::size_t kLongPattern = 256;
  std::shared_ptr<const re2::RE2> regex;
  const auto work = [&] { regex = std::make_shared<const re2::RE2>(pattern, settings); };
  if (pattern.size() < kLongPattern && !pattern.contains('{')) {
    work();
  } else {
    Runtime::current().run_aside(work);
  }
  return regex;
}

}  // namespace

CompiledRegex::CompiledRegex(std::string_view pattern, std::string_view flags) {
  Options options;
  for (const char flag : flags) apply_flag(options, flag);
  if (pattern.starts_with("***=")) {
    options.literal = true;
    pattern.remove_prefix(4);
  } else if (pattern.starts_with("***:")) {
    pattern.remove_prefix(4);
  }
  // "(?xyz)" at the very front sets options.
  if (!options.literal && pattern.starts_with("(?") && pattern.size() > 2 && is_alpha(pattern[2])) {
    const std::size_t end = pattern.find(')');
    if (end == std::string_view::npos) invalid_regex("invalid embedded option");
    for (const char flag : pattern.substr(2, end - 2)) apply_flag(options, flag);
    pattern.remove_prefix(end + 1);
  }
  re2::RE2::Options settings{re2::RE2::Quiet};
  settings.set_case_sensitive(!options.ignore_case);
  settings.set_dot_nl(!options.newline_stops_dot);
  settings.set_max_mem(8 << 20);
  std::string translated;
  if (options.literal) {
    translated = quote(pattern);
  } else {
    Translator translator{pattern, options};
    translated = translator.translate();
    // POSIX takes the longest of the leftmost matches, unless a quantifier asks for the shortest.
    settings.set_longest_match(!translator.has_lazy_quantifier());
    if (options.newline_anchors) translated = "(?m:" + translated + ")";
  }
  // The library recurses over some of what nests: ((x)*)*.
  constexpr std::size_t kDeepest = 5000;
  if (nesting(translated) > kDeepest) invalid_regex("regular expression is too complex");
  compiled_ = compile(translated, settings);
  if (!compiled_->ok()) {
    switch (compiled_->error_code()) {
      case re2::RE2::ErrorMissingParen:
      case re2::RE2::ErrorUnexpectedParen:
        invalid_regex("parentheses () not balanced");
      case re2::RE2::ErrorMissingBracket:
        invalid_regex("brackets [] not balanced");
      case re2::RE2::ErrorRepeatArgument:
      case re2::RE2::ErrorRepeatOp:
        invalid_regex("quantifier operand invalid");
      case re2::RE2::ErrorBadCharRange:
        invalid_regex("invalid character range");
      case re2::RE2::ErrorBadCharClass:
        invalid_regex("invalid character class");
      case re2::RE2::ErrorBadEscape:
      case re2::RE2::ErrorTrailingBackslash:
        invalid_regex("invalid escape \\ sequence");
      case re2::RE2::ErrorRepeatSize:
        invalid_regex("invalid repetition count(s)");
      case re2::RE2::ErrorPatternTooLarge:
        invalid_regex("regular expression is too complex");
      default:
        invalid_regex(compiled_->error());
    }
  }
  groups_ = static_cast<std::size_t>(compiled_->NumberOfCapturingGroups());
}

CompiledRegex::~CompiledRegex() = default;

namespace {

using Match = CompiledRegex::Match;

// Instructions of the program times bytes of the text: the worst that a search steps through, some
// nanoseconds each. What RE2 usually needs is a nanosecond for each byte.
constexpr std::size_t kWorkAside = 4'000'000;
constexpr std::size_t kWorkAbandonable = 100'000'000;

std::optional<Match> search(const re2::RE2& regex, std::string_view text, std::size_t start) {
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(regex.NumberOfCapturingGroups()) +
                                      1);
  // A group that did not match is one without an address, so an empty text needs one.
  if (text.data() == nullptr) text = "";
  if (!regex.Match({text.data(), text.size()}, start, text.size(), re2::RE2::UNANCHORED,
                   parts.data(), static_cast<int>(parts.size()))) {
    return std::nullopt;
  }
  Match out(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].data() == nullptr) continue;
    const auto begin = static_cast<std::size_t>(parts[i].data() - text.data());
    out[i] = {begin, begin + parts[i].size(), true};
  }
  return out;
}

bool is_found(const re2::RE2& regex, std::string_view text) {
  return regex.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

}  // namespace

std::size_t CompiledRegex::work_on(std::size_t text_bytes) const noexcept {
  return static_cast<std::size_t>(std::max(compiled_->ProgramSize(), 1)) * text_bytes;
}

bool CompiledRegex::is_long(std::size_t text_bytes) const noexcept {
  return work_on(text_bytes) >= kWorkAbandonable;
}

bool CompiledRegex::matches(std::string_view text) const {
  count_bytes(text.size());
  if (work_on(text.size()) < kWorkAside) return is_found(*compiled_, text);
  if (!is_long(text.size())) {
    bool found = false;
    Runtime::current().run_aside([&] { found = is_found(*compiled_, text); });
    return found;
  }
  struct Search {
    std::shared_ptr<const re2::RE2> regex;
    std::string text;
    bool found = false;
  };
  const auto search = std::make_shared<Search>(compiled_, std::string{text});
  Runtime::current().run_abandonable(
      [search] { search->found = is_found(*search->regex, search->text); });
  return search->found;
}

std::optional<Match> CompiledRegex::find(std::string_view text, std::size_t start) const {
  if (is_long(text.size() - start)) {
    std::size_t next = start;
    auto found = find_some(std::make_shared<const std::string>(text), next);
    return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
  }
  std::optional<Match> match;
  if (work_on(text.size() - start) < kWorkAside) {
    match = search(*compiled_, text, start);
  } else {
    Runtime::current().run_aside([&] { match = search(*compiled_, text, start); });
  }
  constexpr std::size_t kWorkOfMatch = 200;
  count_work(kWorkOfMatch + (match ? match->front().end : text.size()) - start);
  return match;
}

std::vector<Match> CompiledRegex::find_some(std::shared_ptr<const std::string> text,
                                            std::size_t& next) const {
  struct Search {
    std::shared_ptr<const re2::RE2> regex;
    std::shared_ptr<const std::string> text;
    std::size_t next;
    std::vector<Match> matches;
  };
  const auto found = std::make_shared<Search>(compiled_, std::move(text), next);
  Runtime::current().run_abandonable([found] {
    constexpr Duration kLongEnough = std::chrono::milliseconds{20};
    constexpr std::size_t kMostMatches = 100'000;
    const auto end = std::chrono::steady_clock::now() + kLongEnough;
    while (found->next <= found->text->size() && found->matches.size() < kMostMatches &&
           (found->matches.empty() || std::chrono::steady_clock::now() < end)) {
      auto match = search(*found->regex, *found->text, found->next);
      if (!match) {
        found->next = found->text->size() + 1;
        break;
      }
      found->next = behind(*found->text, match->front());
      found->matches.push_back(std::move(*match));
    }
  });
  next = found->next;
  return std::move(found->matches);
}

std::size_t CompiledRegex::behind(std::string_view text, Range whole) noexcept {
  if (whole.begin != whole.end) return whole.end;
  // An empty match advances by one character, or it would be found for ever.
  return whole.end < text.size() ? whole.end + utf8_length(text[whole.end]) : text.size() + 1;
}

}  // namespace swizzle::sql
