#include "base/runtime/stack_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace swizzle {
namespace {

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

}  // namespace

bool FiberStack::open_more(std::size_t more) noexcept {
  const std::size_t closed = static_cast<std::size_t>(open - lowest);
  const std::size_t taken = std::min(whole_pages(more), closed);
  if (taken == 0 || mprotect(open - taken, taken, PROT_READ | PROT_WRITE) != 0) return false;
  open -= taken;
  return true;
}

void FiberStack::give_back_below(const std::byte* from) noexcept {
  if (from <= open) return;
  const auto unused = static_cast<std::size_t>(from - open) / page_bytes() * page_bytes();
  madvise(open, unused, MADV_DONTNEED);
  std::byte* const first = top() - std::min(bytes, whole_pages(kOpenAtFirst));
  const std::size_t opened =
      std::min(unused, first > open ? static_cast<std::size_t>(first - open) : 0);
  if (opened != 0 && mprotect(open, opened, PROT_NONE) == 0) open += opened;
}

StackPool::StackPool(std::size_t bytes) : bytes_(whole_pages(bytes)) {
  warm_.reserve(kWarm);
}

StackPool::~StackPool() {
  for (const auto& stack : warm_) discard(stack);
}

FiberStack StackPool::take() {
  if (!warm_.empty()) {
    const FiberStack stack = warm_.back();
    warm_.pop_back();
    return stack;
  }
  void* mapping = mmap(nullptr, bytes_ + page_bytes(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc{};
  // A huge page would cost each fiber two megabytes at the first touch.
  madvise(mapping, bytes_ + page_bytes(), MADV_NOHUGEPAGE);
  auto* const lowest = static_cast<std::byte*>(mapping) + page_bytes();
  FiberStack stack{lowest, bytes_, lowest + bytes_};
  if (!stack.open_more(FiberStack::kOpenAtFirst)) {
    discard(stack);
    throw std::bad_alloc{};
  }
  return stack;
}

void StackPool::give_back(FiberStack stack) noexcept {
  // Frames that were on the stack left their redzones in AddressSanitizer's shadow memory.
  unpoison(stack.open, static_cast<std::size_t>(stack.top() - stack.open));
  if (warm_.size() == kWarm) {
    discard(stack);
    return;
  }
  stack.give_back_below(stack.top() - std::min(stack.bytes, kWarmBytes));
  warm_.push_back(stack);
}

void StackPool::discard(FiberStack stack) noexcept {
  unpoison(stack.open, static_cast<std::size_t>(stack.top() - stack.open));
  munmap(stack.lowest - page_bytes(), stack.bytes + page_bytes());
}

}  // namespace swizzle
