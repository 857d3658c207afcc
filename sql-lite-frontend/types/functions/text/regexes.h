#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/regex/regex.h"

namespace swizzle::sql {

/// Iterates over the matches of a pattern in a text, from a byte of it on.
class RegexMatches {
 public:
  /// Both texts must outlive the object.
  RegexMatches(FunctionContext& context, std::string_view text, std::string_view pattern,
               std::string_view flags, std::size_t start = 0);

  /// Returns the next match: the whole match and each group.
  std::optional<CompiledRegex::Match> next(SessionContext& session);

 private:
  std::string_view text_;
  std::string_view pattern_;
  std::string flags_;
  /// Position for the next search; greater than the text's size at the end.
  std::size_t at_;
  /// Copy of the text, and the matches found ahead, for a search that may take long.
  std::shared_ptr<const std::string> shared_text_;
  std::vector<CompiledRegex::Match> found_;
  std::size_t given_ = 0;
};

/// The flag 'g' is for the caller; other flags are for the pattern.
struct RegexFlags {
  std::string pattern;
  bool global = false;
};
RegexFlags split_flags(std::string_view flags);

/// Returns {group, …}, or {match} if the pattern has no groups.
Value match_as_array(Arena& arena, std::string_view text, const CompiledRegex::Match& match);

}  // namespace swizzle::sql
