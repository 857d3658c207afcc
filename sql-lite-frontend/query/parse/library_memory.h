#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <exception>

#include "sql-lite-frontend/types/memory_account.h"

/// The parser library allocates at each level that it goes down and for each node that it makes.
/// Its calls of the two functions with which it does so come to us first (see CMakeLists.txt), and
/// here is measured what it does not measure: stack and memory.
namespace swizzle::sql {

/// Charges the library's allocations on this thread to an account for its lifetime. If the account
/// is exhausted the library's work ends: parsing as by its own error, packing by the escape of its
/// LibraryDescent.
class LibraryMemory {
 public:
  /// Null: nothing is counted.
  explicit LibraryMemory(MemoryAccount* account) noexcept;
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;
  ~LibraryMemory();

  /// Error of the account, if that ended the work.
  [[nodiscard]] const std::exception_ptr& refusal() const noexcept { return refusal_; }

  /// False: it may not.
  bool take(std::size_t bytes) noexcept;

 private:
  bool ask() noexcept;

  MemoryAccount* account_;
  MemoryShare share_;
  std::size_t used_ = 0;
  std::size_t counted_ = 0;
  std::exception_ptr refusal_;
};

/// Guard of the library's recursion: measures its depth, and escapes when that is too large.
class LibraryDescent {
 public:
  LibraryDescent() noexcept;

  /// Makes the library's allocations measure this thread's stack, and perhaps escape, from now on.
  void begin() noexcept;
  void end() noexcept;

  /// Asked at every level.
  void go_down_to(std::uintptr_t frame) noexcept;
  [[nodiscard]] std::size_t used() const noexcept { return start_ - lowest_frame_; }

  std::jmp_buf escape;

 private:
  /// Makes sure of the stack that packing will take, for half as deep again.
  bool allow(std::uintptr_t frame) noexcept;

  std::uintptr_t start_;
  std::uintptr_t lowest_frame_;
  std::uintptr_t allowed_frame_;
};

}  // namespace swizzle::sql
