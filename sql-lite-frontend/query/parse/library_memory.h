#pragma once

#include <cstddef>
#include <exception>

#include "sql-lite-frontend/types/memory_account.h"

/// Wrappers of the parser library's allocation functions and of its stack check: the linker
/// redirects the library's calls here (see CMakeLists.txt). Memory is charged to an account, and
/// the check measures the stack in use, which may be a fiber's.
namespace swizzle::sql {

/// Charges the library's allocations on this thread to an account between begin() and end(). If the
/// account is exhausted, or the stack low, the library's work ends as by an error of its own.
class LibraryMemory {
 public:
  /// `account` null: nothing is charged.
  explicit LibraryMemory(MemoryAccount* account) noexcept : account_(account) {}

  void begin() noexcept;
  static void end() noexcept;

  /// SqlError 53200 or 54001 if it ended the work; else null.
  [[nodiscard]] const std::exception_ptr& refusal() const noexcept { return refusal_; }

  /// Charges the bytes. Returns false if the account is exhausted; the SqlError is then in
  /// refusal().
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
