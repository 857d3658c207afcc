#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "storage/buffer/frame.h"

namespace swizzle {

/// All frames of a pool, in one mapping on huge pages. Frames are never unmapped while the pool
/// lives, so a stale address still leads to a frame, and its latch version tells that it is stale.
class FrameArena {
 public:
  /// As many frames as fit in `bytes`.
  static Result<FrameArena> map(std::uint64_t bytes);
  FrameArena(FrameArena&& other) noexcept;
  FrameArena& operator=(FrameArena&&) = delete;
  ~FrameArena();

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// Frames below this index have been in use; only they may be looked at.
  [[nodiscard]] std::uint32_t used() const noexcept {
    return used_.load(std::memory_order_acquire);
  }
  /// The next frame that was never used, or null. Its memory is touched only from here on.
  /// Pre: callers take turns.
  Frame* first_use() noexcept;
  [[nodiscard]] Frame& at(std::uint32_t index) const noexcept {
    return *static_cast<Frame*>(
        static_cast<void*>(memory_ + std::size_t{index} * Frame::kStride));
  }
  [[nodiscard]] std::uint32_t index_of(const Frame* frame) const noexcept {
    return static_cast<std::uint32_t>(
        static_cast<std::size_t>(reinterpret_cast<const std::byte*>(frame) - memory_) /
        Frame::kStride);
  }

 private:
  FrameArena(std::byte* memory, std::size_t bytes, std::uint32_t count) noexcept
      : memory_(memory), bytes_(bytes), count_(count) {}
  std::byte* memory_;
  std::size_t bytes_;
  std::uint32_t count_;
  std::atomic<std::uint32_t> used_{0};
};

}  // namespace swizzle
