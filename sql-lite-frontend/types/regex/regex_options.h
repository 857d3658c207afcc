#pragma once

#include <cstdint>
#include <string_view>

#include "base/runtime/stack_depth.h"
#include "sql-lite-frontend/types/collation/letters.h"

namespace swizzle::sql {

enum class RegexGrammar : std::uint8_t {
  advanced,  ///< PostgreSQL's own
  extended,  ///< POSIX's: a backslash makes the next character an ordinary one
  basic,     ///< POSIX's older one: groups and bounds have backslashes
  literal,   ///< each character stands for itself
};

/// Options of a regular expression: from the flags of a call, or embedded at its front.
struct RegexOptions {
  RegexGrammar grammar = RegexGrammar::advanced;
  bool ignore_case = false;
  bool newline_stops_dot = false;
  bool newline_anchors = false;
  bool expanded = false;
  Letters letters = Letters::ascii;  ///< of the classes, and of words
  bool ascii_case = false;           ///< `ignore_case` concerns ASCII's letters alone
};

/// Returns the flag by which a function tells the letters of its collation; users cannot write it.
std::string_view regex_flag_of(Letters letters) noexcept;
/// Throws 22023 for an unknown letter.
void apply_regex_flag(RegexOptions& options, char flag);
/// Takes what stands before the expression proper: "***=", "***:" and "(?xyz)". Throws 2201B.
void take_embedded_options(RegexOptions& options, std::string_view& pattern);

/// Throws 2201B "invalid regular expression: " and `why`.
[[noreturn]] void invalid_regex(std::string_view why);
/// Throws 2201B where the stack does not suffice for one more level of an expression.
inline void require_regex_stack() {
  if (stack_is_low()) [[unlikely]]
    invalid_regex("regular expression is too complex");
}

}  // namespace swizzle::sql
