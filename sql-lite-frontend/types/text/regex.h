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
/// The factor is the pattern's. RE2 cannot be interrupted, so a search that may take long runs
/// aside. One that may take very long runs on a copy of the text, so that it can be abandoned
/// (Runtime::run_aside, run_abandonable).
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

  /// The whole match and then each group.
  using Match = std::vector<Range>;

  [[nodiscard]] bool matches(std::string_view text) const;
  /// Nothing if there is no match at or behind `start`.
  [[nodiscard]] std::optional<Match> find(std::string_view text, std::size_t start = 0) const;
  /// Returns the matches from `start` on, as many as are found in some milliseconds, at least one
  /// if there is one. `next` becomes the place where the search goes on; it ends with an empty
  /// list. For texts with is_long(): they have a shared owner.
  [[nodiscard]] std::vector<Match> find_some(std::shared_ptr<const std::string> text,
                                             std::size_t& next) const;
  /// Returns the place where the search for the next match begins; behind the text's end there is
  /// none.
  [[nodiscard]] static std::size_t behind(std::string_view text, Range whole) noexcept;
  /// True if a search of that much text may take noticeably long.
  [[nodiscard]] bool is_long(std::size_t text_bytes) const noexcept;
  [[nodiscard]] std::size_t group_count() const noexcept { return groups_; }

 private:
  struct Programs;
  [[nodiscard]] std::size_t work_of_search(std::size_t text_bytes) const noexcept;

  std::shared_ptr<const Programs> programs_;
  std::size_t groups_ = 0;
};

}  // namespace swizzle::sql
