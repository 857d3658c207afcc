#pragma once

#include <cstddef>
#include <exception>

#include "sql-lite-frontend/types/memory_account.h"

/// The parser library's calls of the functions with which it allocates, and of its own check of the
/// stack, come to us first (see CMakeLists.txt). Here memory is charged to an account, and the
/// stack measured that really runs, which may be a fiber's.
namespace swizzle::sql {

/// Charges the library's allocations on this thread to an account between begin() and end(). If the
/// account is exhausted, or the stack low, the library's work ends as by an error of its own.
class LibraryMemory {
 public:
  /// Null: nothing is counted.
  explicit LibraryMemory(MemoryAccount* account) noexcept : account_(account) {}

  void begin() noexcept;
  static void end() noexcept;

  /// SqlError 53200 or 54001, if that ended the work.
  [[nodiscard]] const std::exception_ptr& refusal() const noexcept { return refusal_; }

  /// False: it may not.
  bool take(std::size_t bytes) noexcept;
  bool go_deeper() noexcept;

 private:
  MemoryAccount* account_;
  MemoryShare share_;
  std::size_t used_ = 0;
  std::size_t counted_ = 0;
  std::exception_ptr refusal_;
};

}  // namespace swizzle::sql
