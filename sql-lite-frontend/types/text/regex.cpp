#include "sql-lite-frontend/types/text/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <chrono>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/regex_dialect.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/text/word_edges.h"

namespace swizzle::sql {

/// Immutable; shared with searches that were left to themselves.
struct CompiledRegex::Programs {
  std::unique_ptr<const re2::RE2> parts;
  /// Finds the length of the whole match, if some parts are greedy and others are not. Null:
  /// `parts` does both.
  std::unique_ptr<const re2::RE2> whole;
  TranslatedRegex::Edge edge = TranslatedRegex::Edge::none;

  [[nodiscard]] const re2::RE2& of_whole() const { return whole ? *whole : *parts; }
  /// Of the text after `start`.
  [[nodiscard]] std::optional<Match> search(std::string_view text, std::size_t start) const;
  [[nodiscard]] bool is_found(std::string_view text) const;
  /// How many times a search may begin anew, about.
  [[nodiscard]] std::size_t work_of_edges(std::size_t text_bytes) const noexcept {
    constexpr std::size_t kBytesOfWord = 8;
    return edge == TranslatedRegex::Edge::none ? 1 : 1 + text_bytes / kBytesOfWord;
  }

 private:
  [[nodiscard]] std::optional<Match> search_anywhere(std::string_view text,
                                                     std::size_t start) const;
  [[nodiscard]] bool is_at_edge(std::string_view text, std::size_t place) const noexcept;
};

namespace {

std::string quote(std::string_view text) {
  return re2::RE2::QuoteMeta({text.data(), text.size()});
}

/// A few letters can ask for a large program.
std::unique_ptr<const re2::RE2> compile(const std::string& pattern,
                                        const re2::RE2::Options& settings) {
  constexpr std::size_t kLongPattern = 256;
  std::unique_ptr<const re2::RE2> regex;
  const auto work = [&] { regex = std::make_unique<const re2::RE2>(pattern, settings); };
  if (pattern.size() < kLongPattern && !pattern.contains('{')) {
    work();
  } else {
    Runtime::current().run_aside(work);
  }
  return regex;
}

std::unique_ptr<const re2::RE2> compile_or_refuse(const std::string& pattern,
                                                  const re2::RE2::Options& settings) {
  // The library recurses over some nested patterns: ((x)*)*.
  constexpr std::size_t kDeepest = 5000;
  if (regex_nesting(pattern) > kDeepest) invalid_regex("regular expression is too complex");
  auto regex = compile(pattern, settings);
  if (regex->ok()) return regex;
  switch (regex->error_code()) {
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
      invalid_regex(regex->error());
  }
}

}  // namespace

CompiledRegex::CompiledRegex(std::string_view pattern, std::string_view flags) {
  RegexOptions options;
  for (const char flag : flags) apply_regex_flag(options, flag);
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
    for (const char flag : pattern.substr(2, end - 2)) apply_regex_flag(options, flag);
    pattern.remove_prefix(end + 1);
  }
  re2::RE2::Options settings{re2::RE2::Quiet};
  settings.set_case_sensitive(!options.ignore_case || options.ascii_case);
  settings.set_dot_nl(!options.newline_stops_dot);
  settings.set_max_mem(8 << 20);
  auto programs = std::make_shared<Programs>();
  if (options.literal) {
    const bool folds = options.ignore_case && options.ascii_case;
    const std::string quoted = quote(pattern);
    programs->parts = compile_or_refuse(folds ? fold_ascii_letters(quoted) : quoted, settings);
  } else {
    const auto whole = [&](const std::string& text) {
      return options.newline_anchors ? "(?m:" + text + ")" : text;
    };
    const TranslatedRegex translated = translate_regex(pattern, options);
    programs->edge = translated.edge;
    settings.set_longest_match(!translated.is_short);
    if (translated.is_lazy) {
      programs->whole = compile_or_refuse(
          whole(translated.is_short ? translated.shortest : translated.text), settings);
      settings.set_longest_match(false);
    }
    programs->parts = compile_or_refuse(whole(translated.text), settings);
  }
  groups_ = static_cast<std::size_t>(programs->parts->NumberOfCapturingGroups());
  programs_ = std::move(programs);
}

CompiledRegex::~CompiledRegex() = default;

namespace {

using Match = CompiledRegex::Match;

// Instructions of the program times bytes of the text: the worst that a search steps through, some
// nanoseconds each. Usually RE2 needs a nanosecond for each byte.
constexpr std::size_t kWorkAside = 4'000'000;
constexpr std::size_t kWorkAbandonable = 100'000'000;

std::size_t work_of(const re2::RE2& regex, std::size_t text_bytes) {
  return static_cast<std::size_t>(std::max(regex.ProgramSize(), 1)) * (text_bytes + 1);
}

bool match(const re2::RE2& regex, std::string_view text, CompiledRegex::Range within,
           re2::RE2::Anchor anchor, std::span<re2::StringPiece> parts) {
  return regex.Match({text.data(), text.size()}, within.begin, within.end, anchor, parts.data(),
                     static_cast<int>(parts.size()));
}

}  // namespace

bool CompiledRegex::Programs::is_found(std::string_view text) const {
  if (edge != TranslatedRegex::Edge::none) return search(text, 0).has_value();
  return match(of_whole(), text, {0, text.size()}, re2::RE2::UNANCHORED, {});
}

/// True if the word edge that the program has found is the one meant: a beginning or an end.
bool CompiledRegex::Programs::is_at_edge(std::string_view text, std::size_t place) const noexcept {
  switch (edge) {
    case TranslatedRegex::Edge::none:
      break;
    case TranslatedRegex::Edge::beginning:
      return is_word_at(text, place);
    case TranslatedRegex::Edge::end:
      return place > 0 && is_word_at(text, place - 1);
  }
  return true;
}

std::optional<Match> CompiledRegex::Programs::search(std::string_view text,
                                                     std::size_t start) const {
  auto found = search_anywhere(text, start);
  // Nothing begins at the wrong edge, and nothing was found before it.
  while (found && !is_at_edge(text, found->front().begin)) {
    const std::size_t place = found->front().begin;
    if (place == text.size()) return std::nullopt;
    found = search_anywhere(text, place + utf8_length(text[place]));
  }
  return found;
}

std::optional<Match> CompiledRegex::Programs::search_anywhere(std::string_view text,
                                                              std::size_t start) const {
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(parts->NumberOfCapturingGroups()) +
                                      1);
  // A group that did not match is one without an address, so an empty text needs one.
  if (text.data() == nullptr) text = "";
  const auto first = std::span{found}.first(1);
  if (!match(of_whole(), text, {start, text.size()}, re2::RE2::UNANCHORED,
             whole ? first : std::span{found})) {
    return std::nullopt;
  }
  if (whole) {
    const re2::StringPiece reach = found[0];
    const auto begin = static_cast<std::size_t>(reach.data() - text.data());
    if (!match(*parts, text, {begin, begin + reach.size()}, re2::RE2::ANCHOR_BOTH, found)) {
      found[0] = reach;
    }
  }
  Match out(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].data() == nullptr) continue;
    const auto begin = static_cast<std::size_t>(found[i].data() - text.data());
    out[i] = {begin, begin + found[i].size(), true};
  }
  return out;
}

std::size_t CompiledRegex::work_of_search(std::size_t text_bytes) const noexcept {
  // Each step may copy where all groups are.
  constexpr std::size_t kGroupsInAStep = 2;
  return programs_->work_of_edges(text_bytes) * work_of(*programs_->parts, text_bytes) *
         (1 + groups_ / kGroupsInAStep);
}

bool CompiledRegex::is_long(std::size_t text_bytes) const noexcept {
  return work_of_search(text_bytes) >= kWorkAbandonable;
}

bool CompiledRegex::matches(std::string_view text) const {
  count_bytes(text.size());
  const re2::RE2& regex = programs_->of_whole();
  const std::size_t work = programs_->work_of_edges(text.size()) * work_of(regex, text.size());
  if (work < kWorkAside) return programs_->is_found(text);
  if (work < kWorkAbandonable) {
    bool found = false;
    Runtime::current().run_aside([&] { found = programs_->is_found(text); });
    return found;
  }
  struct Search {
    std::shared_ptr<const Programs> programs;
    std::string text;
    bool found = false;
  };
  const auto search = std::make_shared<Search>(programs_, std::string{text});
  Runtime::current().run_abandonable(
      [search] { search->found = search->programs->is_found(search->text); });
  return search->found;
}

std::optional<Match> CompiledRegex::find(std::string_view text, std::size_t start) const {
  if (is_long(text.size() - start)) {
    std::size_t next = start;
    auto found = find_some(std::make_shared<const std::string>(text), next);
    return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
  }
  std::optional<Match> match;
  if (work_of_search(text.size() - start) < kWorkAside) {
    match = programs_->search(text, start);
  } else {
    Runtime::current().run_aside([&] { match = programs_->search(text, start); });
  }
  constexpr std::size_t kWorkOfMatch = 200;
  yield_point(kWorkOfMatch + (match ? match->front().end : text.size()) - start);
  return match;
}

std::vector<Match> CompiledRegex::find_some(std::shared_ptr<const std::string> text,
                                            std::size_t& next) const {
  struct Search {
    std::shared_ptr<const Programs> programs;
    std::shared_ptr<const std::string> text;
    std::size_t next;
    std::vector<Match> matches;
  };
  const auto found = std::make_shared<Search>(programs_, std::move(text), next);
  Runtime::current().run_abandonable([found] {
    constexpr Duration kLongEnough = std::chrono::milliseconds{20};
    constexpr std::size_t kMostMatches = 100'000;
    const auto end = std::chrono::steady_clock::now() + kLongEnough;
    while (found->next <= found->text->size() && found->matches.size() < kMostMatches &&
           (found->matches.empty() || std::chrono::steady_clock::now() < end)) {
      auto match = found->programs->search(*found->text, found->next);
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
