#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/regex/regex_matcher.h"

namespace swizzle::sql {

/// One of PostgreSQL's regular expressions. RE2 finds where a match may be, in time proportional to
/// the text. What RE2 cannot say (references to groups, looks around) or would say otherwise (the
/// shortest match, the places of groups that a text does not determine) is then left to
/// RegexMatcher.
///
/// The constant factor depends on the pattern. RE2 cannot be interrupted, so a search that may take
/// long runs on a helper thread, and one that may take very long on a copy of the text, so that it
/// can be abandoned (Runtime::run_aside, run_abandonable).
class CompiledRegex {
 public:
  /// `flags` as the functions take them: b c e i m n p q s t w x (g is the caller's). Throws 2201B
  /// for a malformed pattern, 22023 for an unknown flag.
  CompiledRegex(std::string_view pattern, std::string_view flags);
  CompiledRegex(const CompiledRegex&) = delete;
  CompiledRegex& operator=(const CompiledRegex&) = delete;
  ~CompiledRegex();

  using Range = RegexRange;
  using Match = RegexMatch;

  [[nodiscard]] bool matches(std::string_view text) const;
  /// Returns nothing if there is no match at or after `start`.
  [[nodiscard]] std::optional<Match> find(std::string_view text, std::size_t start = 0) const;
  /// Returns the matches from `start` on that are found within some milliseconds, at least one if
  /// there is any. Sets `next` to the position for the next call; an empty list means the end. For
  /// texts with is_long(), hence the shared owner.
  [[nodiscard]] std::vector<Match> find_some(std::shared_ptr<const std::string> text,
                                             std::size_t& next) const;
  /// Returns the position at which to search for the next match; greater than the text's size if
  /// there cannot be one.
  [[nodiscard]] static std::size_t behind(std::string_view text, Range whole) noexcept;
  /// True if a search of a text of that size may take noticeably long.
  [[nodiscard]] bool is_long(std::size_t text_bytes) const noexcept;
  [[nodiscard]] std::size_t group_count() const noexcept { return groups_; }

 private:
  struct Programs;
  /// The text of a search; shared if the search may have to be abandoned.
  struct Subject;
  [[nodiscard]] std::optional<Match> find_in(const Subject& subject, std::size_t start) const;

  [[nodiscard]] const RegexMatcher& matcher() const;

  std::shared_ptr<const Programs> programs_;
  /// Made by the first search that needs it. Of the thread that searches.
  mutable std::unique_ptr<const RegexMatcher> matcher_;
  std::size_t groups_ = 0;
};

}  // namespace swizzle::sql
