#pragma once

#include <source_location>

/// Which of the two macros a source uses: code that parses, binds, plans, describes or computes
/// uses STATEMENT_INVARIANT, because such a bug is worth one statement. Storage, log and locks use
/// INVARIANT of base/invariant.h, because a page that is half changed must not be written. In this
/// folder INVARIANT remains where no exception may pass (noexcept functions, destructors) and in
/// what is set up before the first session. Such a line says so by "Ends the process: REASON" in
/// the comment above it (scripts/check-names).
namespace swizzle::sql::detail {

/// Throws SqlError XX000 that names the condition and the line of the source.
[[noreturn]] void statement_fault(const char* condition,
                                  std::source_location at = std::source_location::current());

/// Throws SqlError XX000: a T that must be there is missing, where `function` is the pretty name of
/// a member of a template over T. Names the address that looked for it, which addr2line turns into
/// a line.
[[noreturn, gnu::noinline]] void missing_fault(const char* function);

}  // namespace swizzle::sql::detail

/// Our own bug if it is false: the statement fails with XX000 and is rolled back like after any
/// error. Always on. The condition has no side effects.
#define STATEMENT_INVARIANT(cond) \
  ((cond) ? static_cast<void>(0) : ::swizzle::sql::detail::statement_fault(#cond))
