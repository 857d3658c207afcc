#include "base/stack_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/sanitizers.h"

namespace swizzle {
namespace {

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

StackPool::StackPool(std::size_t bytes)
    : bytes_((bytes + page_bytes() - 1) / page_bytes() * page_bytes()) {
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
  void* mapping = mmap(nullptr, bytes_ + page_bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc{};
  if (mprotect(mapping, page_bytes(), PROT_NONE) != 0) {
    munmap(mapping, bytes_ + page_bytes());
    throw std::bad_alloc{};
  }
  return {static_cast<std::byte*>(mapping) + page_bytes(), bytes_};
}

void StackPool::give_back(FiberStack stack) noexcept {
  // The frames that were on it left their redzones in AddressSanitizer's shadow.
  unpoison(stack.lowest, stack.bytes);
  if (warm_.size() == kWarm) {
    discard(stack);
  } else {
    warm_.push_back(stack);
  }
}

void StackPool::discard(FiberStack stack) noexcept {
  unpoison(stack.lowest, stack.bytes);
  munmap(stack.lowest - page_bytes(), stack.bytes + page_bytes());
}

}  // namespace swizzle
