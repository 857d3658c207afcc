#include "sql-lite-frontend/types/regex/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/regex/re2_form.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Match = CompiledRegex::Match;

// Instructions of the program times bytes of the text: the worst that a search steps through, some
// nanoseconds each. Usually RE2 needs a nanosecond for each byte.
constexpr std::size_t kWorkAside = 4'000'000;
constexpr std::size_t kWorkAbandonable = 100'000'000;

/// Returns nothing where RE2 finds the expression too large.
std::unique_ptr<const re2::RE2> compile_for_re2(const std::string& pattern,
                                                const re2::RE2::Options& settings) {
  constexpr std::size_t kLongPattern = 256;
  std::unique_ptr<const re2::RE2> regex;
  const auto work = [&] { regex = std::make_unique<const re2::RE2>(pattern, settings); };
  // A few letters can ask for a large program.
  if (pattern.size() < kLongPattern && !pattern.contains('{')) {
    work();
  } else {
    Runtime::current().run_aside(work);
  }
  return regex->ok() ? std::move(regex) : nullptr;
}

}  // namespace

/// Immutable; shared with searches that were left to themselves.
struct CompiledRegex::Programs {
  RegexTree tree;
  /// Finds where a match may begin. Null: RE2 refuses the expression.
  std::unique_ptr<const re2::RE2> finder;
  bool is_exact = false;      ///< a match begins wherever the finder says so
  bool finds_whole = false;   ///< and ends there, too
  bool finds_groups = false;  ///< and has these groups: nothing is left to the matcher

  /// How many steps a search in a text may take, about.
  [[nodiscard]] std::size_t work(std::size_t text_bytes) const noexcept {
    return finder == nullptr
               ? 0
               : static_cast<std::size_t>(std::max(finder->ProgramSize(), 1)) * (text_bytes + 1);
  }
  [[nodiscard]] bool is_found(std::string_view text) const {
    return finder->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr,
                         0);
  }
  /// Finds the first match from `start` on, with its groups where they are the finder's to tell.
  [[nodiscard]] std::optional<Match> search(std::string_view text, std::size_t start) const;
};

std::optional<Match> CompiledRegex::Programs::search(std::string_view text,
                                                     std::size_t start) const {
  std::vector<re2::StringPiece> found(finds_groups ? tree.groups.size() + 1 : 1);
  // A group that did not match is one without an address, so an empty text needs one.
  if (text.data() == nullptr) text = "";
  if (!finder->Match({text.data(), text.size()}, start, text.size(), re2::RE2::UNANCHORED,
                     found.data(), static_cast<int>(found.size())))
    return std::nullopt;
  Match out(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].data() == nullptr) continue;
    const auto begin = static_cast<std::size_t>(found[i].data() - text.data());
    out[i] = {begin, begin + found[i].size(), true};
  }
  return out;
}

CompiledRegex::CompiledRegex(std::string_view pattern, std::string_view flags) {
  RegexOptions options;
  for (const char flag : flags) apply_regex_flag(options, flag);
  take_embedded_options(options, pattern);
  auto programs = std::make_shared<Programs>();
  programs->tree = parse_regex(pattern, options);
  const RegexTree& tree = programs->tree;
  groups_ = tree.groups.size();

  const bool is_short = tree.whole().traits.prefers_shortest;
  Re2Form form = re2_form(tree, is_short ? Re2Length::shortest : Re2Length::longest);
  if (!form.is_exact && !is_short) form = re2_form(tree, Re2Length::shortest);
  re2::RE2::Options settings{re2::RE2::Quiet};
  settings.set_case_sensitive(!options.ignore_case || options.ascii_case);
  settings.set_longest_match(form.is_exact && !is_short);
  settings.set_max_mem(8 << 20);
  programs->finder = compile_for_re2(form.text, settings);
  programs->is_exact = form.is_exact && programs->finder != nullptr;
  programs->finds_whole = programs->is_exact && !is_short;
  programs->finds_groups = programs->finds_whole && determines_groups(tree);
  programs_ = std::move(programs);
}

CompiledRegex::~CompiledRegex() = default;

const RegexMatcher& CompiledRegex::matcher() const {
  if (matcher_ == nullptr) matcher_ = std::make_unique<const RegexMatcher>(programs_->tree);
  return *matcher_;
}

struct CompiledRegex::Subject {
  std::string_view text;
  std::shared_ptr<const std::string> owner{};  ///< of the text; null: it is not shared
};

bool CompiledRegex::is_long(std::size_t text_bytes) const noexcept {
  // Each step may copy where all groups are.
  constexpr std::size_t kGroupsInAStep = 2;
  return programs_->work(text_bytes) * (1 + groups_ / kGroupsInAStep) >= kWorkAbandonable;
}

bool CompiledRegex::matches(std::string_view text) const {
  count_bytes(text.size());
  if (!programs_->is_exact) return find(text).has_value();
  const std::size_t work = programs_->work(text.size());
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
  if (!is_long(text.size() - start)) return find_in({.text = text}, start);
  const auto owner = std::make_shared<const std::string>(text);
  return find_in({.text = *owner, .owner = owner}, start);
}

std::optional<Match> CompiledRegex::find_in(const Subject& subject, std::size_t start) const {
  const std::string_view text = subject.text;
  const Programs& programs = *programs_;
  const auto search = [&](std::size_t from) -> std::optional<Match> {
    if (programs.finder == nullptr) return Match{{from, from, true}};
    if (programs.work(text.size() - from) < kWorkAside) return programs.search(text, from);
    std::optional<Match> match;
    if (subject.owner == nullptr) {
      Runtime::current().run_aside([&] { match = programs.search(text, from); });
      return match;
    }
    struct Search {
      std::shared_ptr<const Programs> programs;
      std::shared_ptr<const std::string> text;
      std::optional<Match> match{};
    };
    const auto apart = std::make_shared<Search>(programs_, subject.owner);
    Runtime::current().run_abandonable(
        [apart, from] { apart->match = apart->programs->search(*apart->text, from); });
    return std::move(apart->match);
  };
  constexpr std::size_t kWorkOfMatch = 200;
  while (start <= text.size()) {
    std::optional<Match> match = search(start);
    yield_point(kWorkOfMatch + (match ? match->front().end : text.size()) - start);
    if (!match || programs.finds_groups) return match;
    const Range found = match->front();
    const auto end = programs.finds_whole ? std::optional{found.end} : std::nullopt;
    match = matcher().match(text, found.begin, end);
    if (match) return match;
    start = behind(text, {found.begin, found.begin, true});
  }
  return std::nullopt;
}

std::vector<Match> CompiledRegex::find_some(std::shared_ptr<const std::string> text,
                                            std::size_t& next) const {
  if (!programs_->finds_groups) {
    auto match = find_in({.text = *text, .owner = text}, next);
    if (!match) return {};
    next = behind(*text, match->front());
    return {std::move(*match)};
  }
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
