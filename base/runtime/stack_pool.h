#pragma once

#include <cstddef>
#include <vector>

#include "base/sanitizers.h"

namespace swizzle {

/// The memory of one fiber's stack. Address space is reserved for all of it, but only the upper
/// part is open. Below it a guard turns an overflow into a fault; a recursion that checks its depth
/// (stack_depth.h) opens more of it. An open page takes memory when it is touched.
struct FiberStack {
  /// Address space; it limits how deep a statement may nest (stack_depth.h).
#if defined(SWIZZLE_ASAN) || defined(SWIZZLE_TSAN)
  static constexpr std::size_t kDefaultBytes = std::size_t{64} << 20;
  static constexpr std::size_t kOpenAtFirst = std::size_t{4} << 20;
#else
  static constexpr std::size_t kDefaultBytes = std::size_t{16} << 20;
  static constexpr std::size_t kOpenAtFirst = std::size_t{512} << 10;
#endif

  std::byte* lowest = nullptr;
  std::size_t bytes = 0;
  std::byte* open = nullptr;

  [[nodiscard]] std::byte* top() const noexcept { return lowest + bytes; }
  /// Opens `more` bytes, or as many as are left. False if none are, or the system has no memory to
  /// promise.
  bool open_more(std::size_t more) noexcept;
  /// Gives the memory below `from` back, and closes what was opened.
  void give_back_below(const std::byte* from) noexcept;
};

/// Allocates stacks of one size and keeps a few used ones warm. Not thread-safe: one per reactor.
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
  /// Bytes of each kept stack that keep their memory.
  static constexpr std::size_t kWarmBytes = std::size_t{32} << 10;

  std::size_t bytes_;
  std::vector<FiberStack> warm_;
};

}  // namespace swizzle
