#include "sql-lite-frontend/query/parse/library_memory.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

constinit thread_local LibraryMemory* counted = nullptr;
constinit thread_local LibraryDescent* descent = nullptr;

std::uintptr_t present_frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// The library's allocator rounds up to powers of two, and has a header for each piece.
std::size_t taken_for(std::size_t size) noexcept {
  constexpr std::size_t kHeader = 16;
  constexpr std::size_t kLargestRounded = 8192;
  return kHeader + (size <= kLargestRounded ? std::bit_ceil(size) : size);
}

}  // namespace

LibraryMemory::LibraryMemory(MemoryAccount* account) noexcept : account_(account) {
  if (account != nullptr) counted = this;
}

LibraryMemory::~LibraryMemory() {
  counted = nullptr;
}

bool LibraryMemory::take(std::size_t bytes) noexcept {
  used_ += taken_for(bytes);
  return used_ <= counted_ || ask();
}

bool LibraryMemory::ask() noexcept {
  constexpr std::size_t kStep = std::size_t{256} << 10U;
  try {
    counted_ = used_ + kStep;
    share_.set(account_, counted_);
    return true;
  } catch (...) {
    refusal_ = std::current_exception();
    return false;
  }
}

LibraryDescent::LibraryDescent() noexcept
    : start_(present_frame()), lowest_frame_(start_), allowed_frame_(start_) {}

void LibraryDescent::begin() noexcept {
  descent = this;
}

void LibraryDescent::end() noexcept {
  descent = nullptr;
}

void LibraryDescent::go_down_to(std::uintptr_t frame) noexcept {
  if (frame < allowed_frame_ && !allow(frame)) std::longjmp(escape, 1);
  lowest_frame_ = std::min(lowest_frame_, frame);
}

bool LibraryDescent::allow(std::uintptr_t frame) noexcept {
  // The library builds messages from the tree, where it allocates, and then packs them, where it
  // does not and takes up to four and a half times the stack for each level.
  constexpr std::size_t kPackingFactor = 6;
  constexpr std::size_t kFirstStep = std::size_t{16} << 10U;
  const std::size_t used = start_ - frame;
  const std::size_t next = used + used / 2 + kFirstStep;
  if (!stack_has(next * kPackingFactor - used)) return false;
  allowed_frame_ = start_ - next;
  return true;
}

}  // namespace swizzle::sql

// The names that the linker's --wrap makes.
extern "C" {

void* palloc_of_library(std::size_t size) asm("__real_palloc");
void* palloc_measured(std::size_t size) asm("__wrap_palloc");
void* zeroed_of_library(void* context,
                        std::size_t size) asm("__real_MemoryContextAllocZeroAligned");
void* zeroed_measured(void* context, std::size_t size) asm("__wrap_MemoryContextAllocZeroAligned");
}

namespace {

/// Ends the library's work if the account does not have so much.
void count(std::size_t size) {
  using namespace swizzle::sql;
  if (counted == nullptr || counted->take(size)) [[likely]]
    return;
  // From here on the library only has to end.
  counted = nullptr;
  if (descent != nullptr) std::longjmp(descent->escape, 1);
  // More than it ever allows: it raises its error, which its parser catches.
  static_cast<void>(palloc_of_library(std::numeric_limits<std::size_t>::max()));
}

}  // namespace

void* palloc_measured(std::size_t size) {
  using namespace swizzle::sql;
  if (descent != nullptr) descent->go_down_to(present_frame());
  count(size);
  return palloc_of_library(size);
}

void* zeroed_measured(void* context, std::size_t size) {
  count(size);
  return zeroed_of_library(context, size);
}
