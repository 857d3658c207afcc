#include "sql-lite-frontend/types/regex.h"

#include <re2/re2.h>

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text_scan.h"

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
      : rest_{pattern}, options_{options} {}

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
    if (options_.expanded && (is_space(c) || c == '#')) {
      const std::size_t line = c == '#' ? rest_.find('\n') : 0;
      rest_.remove_prefix(line == std::string_view::npos ? rest_.size() : line + 1);
      return;
    }
    if ((c == '*' || c == '+' || c == '?' || c == '}') && rest_.size() > 1 && rest_[1] == '?')
      lazy_ = true;
    take(1);
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
      case 'm':
      case 'M':
        return replace(2, "\\b");
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

  void bracket() {
    if (rest_.starts_with("[[:<:]]") || rest_.starts_with("[[:>:]]")) return replace(7, "\\b");
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

  std::string_view rest_;
  Options options_;
  std::string out_;
  bool lazy_ = false;
};

std::string quote(std::string_view text) {
  return re2::RE2::QuoteMeta({text.data(), text.size()});
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
  compiled_ = std::make_unique<re2::RE2>(translated, settings);
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

bool CompiledRegex::matches(std::string_view text) const {
  return compiled_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr,
                          0);
}

std::optional<std::vector<CompiledRegex::Range>> CompiledRegex::find(std::string_view text,
                                                                     std::size_t start) const {
  std::vector<re2::StringPiece> parts(groups_ + 1);
  // A group that did not match is one without an address, so an empty text needs one.
  if (text.data() == nullptr) text = "";
  const re2::StringPiece piece{text.data(), text.size()};
  if (!compiled_->Match(piece, start, text.size(), re2::RE2::UNANCHORED, parts.data(),
                        static_cast<int>(parts.size())))
    return std::nullopt;
  std::vector<Range> out(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].data() == nullptr) continue;
    const auto begin = static_cast<std::size_t>(parts[i].data() - text.data());
    out[i] = {begin, begin + parts[i].size(), true};
  }
  return out;
}

}  // namespace swizzle::sql
