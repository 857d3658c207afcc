#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace swizzle::sql {

/// One of PostgreSQL's regular expressions, run by RE2 in linear time. What RE2 cannot do (back
/// references, look-around) is refused with 0A000 and its name.
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

  [[nodiscard]] bool matches(std::string_view text) const;
  /// The whole match and then each group; nothing if there is no match at or behind `start`.
  [[nodiscard]] std::optional<std::vector<Range>> find(std::string_view text,
                                                       std::size_t start = 0) const;
  [[nodiscard]] std::size_t group_count() const noexcept { return groups_; }

 private:
  std::unique_ptr<re2::RE2> compiled_;
  std::size_t groups_ = 0;
};

}  // namespace swizzle::sql
