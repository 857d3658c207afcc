#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swizzle::sql {

/// One of PostgreSQL's regular expressions, run by RE2 in time proportional to the text. Features
/// that RE2 lacks (back references, look-around) are refused with 0A000 and their names.
///
/// The constant factor depends on the pattern. RE2 cannot be interrupted, so a search that may take
/// long runs on a helper thread, and one that may take very long on a copy of the text, so that it
/// can be abandoned (Runtime::run_aside, run_abandonable).
class CompiledRegex {
 public:
  /// `flags` as the functions take them: i c n m p w s x q (g is the caller's). Throws 2201B for a
  /// malformed pattern, 22023 for an unknown flag.
  CompiledRegex(std::string_view pattern, std::string_view flags);
  CompiledRegex(const CompiledRegex&) = delete;
  CompiledRegex& operator=(const CompiledRegex&) = delete;
  ~CompiledRegex();

  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool matched = false;
  };

  /// The whole match, then each group.
  using Match = std::vector<Range>;

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
  [[nodiscard]] std::size_t work_of_search(std::size_t text_bytes) const noexcept;

  std::shared_ptr<const Programs> programs_;
  std::size_t groups_ = 0;
};

}  // namespace swizzle::sql
