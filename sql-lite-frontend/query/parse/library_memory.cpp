#include "sql-lite-frontend/query/parse/library_memory.h"

#include <bit>

#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

constinit thread_local LibraryMemory* counted = nullptr;

/// Returns the bytes that the library's allocator takes for a piece: a header, and small sizes
/// rounded up to powers of two.
std::size_t taken_for(std::size_t size) noexcept {
  constexpr std::size_t kHeader = 16;
  constexpr std::size_t kLargestRounded = 8192;
  return kHeader + (size <= kLargestRounded ? std::bit_ceil(size) : size);
}

}  // namespace

void LibraryMemory::begin() noexcept {
  counted = this;
}

void LibraryMemory::end() noexcept {
  counted = nullptr;
}

bool LibraryMemory::take(std::size_t bytes) noexcept {
  used_ += taken_for(bytes);
  if (account_ == nullptr || used_ <= counted_) return true;
  constexpr std::size_t kStep = std::size_t{256} << 10U;
  try {
    share_.set(account_, used_ + kStep);
    counted_ = used_ + kStep;
    return true;
  } catch (...) {
    refusal_ = std::current_exception();
    return false;
  }
}

bool LibraryMemory::go_deeper() noexcept {
  try {
    check_stack();
    return true;
  } catch (...) {
    refusal_ = std::current_exception();
    return false;
  }
}

}  // namespace swizzle::sql

// Symbols that the linker's --wrap defines.
extern "C" {

void* palloc_of_library(std::size_t size) asm("__real_palloc");
void* palloc_measured(std::size_t size) asm("__wrap_palloc");
void* palloc0_of_library(std::size_t size) asm("__real_palloc0");
void* palloc0_measured(std::size_t size) asm("__wrap_palloc0");
void* repalloc_of_library(void* piece, std::size_t size) asm("__real_repalloc");
void* repalloc_measured(void* piece, std::size_t size) asm("__wrap_repalloc");
void* allocate_of_library(void* context, std::size_t size) asm("__real_MemoryContextAlloc");
void* allocate_measured(void* context, std::size_t size) asm("__wrap_MemoryContextAlloc");
void check_stack_measured() asm("__wrap_check_stack_depth");

/// Jumps to the library's error handler (PG_RE_THROW).
[[noreturn]] void pg_re_throw();
}

namespace {

/// Ends the library's work if the account is exhausted.
void count(std::size_t size) {
  using namespace swizzle::sql;
  if (counted != nullptr && !counted->take(size)) [[unlikely]]
    pg_re_throw();
}

}  // namespace

void* palloc_measured(std::size_t size) {
  count(size);
  return palloc_of_library(size);
}

void* palloc0_measured(std::size_t size) {
  count(size);
  return palloc0_of_library(size);
}

/// Counts the new piece as a whole: growing pieces double, so the old ones add as much again at
/// most.
void* repalloc_measured(void* piece, std::size_t size) {
  count(size);
  return repalloc_of_library(piece, size);
}

void* allocate_measured(void* context, std::size_t size) {
  count(size);
  return allocate_of_library(context, size);
}

void check_stack_measured() {
  using namespace swizzle::sql;
  if (counted != nullptr && !counted->go_deeper()) [[unlikely]]
    pg_re_throw();
}
