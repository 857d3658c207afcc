#pragma once

#include <cstddef>
#include <vector>

namespace swizzle {

/// The memory of one fiber's stack: committed page by page as it is first touched, with a guard
/// page below that turns an overflow into a fault.
struct FiberStack {
  std::byte* lowest = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] std::byte* top() const noexcept { return lowest + bytes; }
};

/// Gives out stacks of one size and keeps a few used ones warm. Not thread-safe: one per reactor.
class StackPool {
 public:
  /// `bytes` is rounded up to whole pages; the guard page comes on top.
  explicit StackPool(std::size_t bytes);
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  /// Throws std::bad_alloc when the system has no more address space or mappings to give.
  FiberStack take();
  void give_back(FiberStack stack) noexcept;
  [[nodiscard]] std::size_t stack_bytes() const noexcept { return bytes_; }

  /// Unmaps a stack instead of giving it back.
  static void discard(FiberStack stack) noexcept;

 private:
  static constexpr std::size_t kWarm = 64;

  std::size_t bytes_;
  std::vector<FiberStack> warm_;
};

}  // namespace swizzle
