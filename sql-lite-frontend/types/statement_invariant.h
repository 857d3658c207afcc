#pragma once

#include <source_location>

/// Choice between the two macros: code that parses, binds, plans, describes or computes uses
/// STATEMENT_INVARIANT, because such a bug should cost one statement only. Storage, log and locks
/// use INVARIANT of base/invariant.h, because a half-changed page must not be written. In this
/// folder INVARIANT remains where no exception may pass (noexcept functions, destructors), and in
/// code that runs before the first session. The comment above such a line says "Ends the process:
/// REASON" (scripts/check-layers).
namespace swizzle::sql::detail {

/// Throws SqlError XX000 that names the condition and the line of the source.
[[noreturn]] void statement_fault(const char* condition,
                                  std::source_location at = std::source_location::current());

/// Throws SqlError XX000 for a missing T; `function` is the pretty name of a member of a template
/// over T. The error names the caller's address, which addr2line turns into a line.
[[noreturn, gnu::noinline]] void missing_fault(const char* function);

}  // namespace swizzle::sql::detail

/// False is our own bug: the statement fails with XX000 and is rolled back as after any error.
/// Always on. The condition has no side effects.
#define STATEMENT_INVARIANT(cond) \
  ((cond) ? static_cast<void>(0) : ::swizzle::sql::detail::statement_fault(#cond))
