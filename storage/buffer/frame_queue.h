#pragma once

#include <atomic>
#include <mutex>

#include "storage/buffer/frame.h"
#include "storage/latch/spin_mutex.h"

namespace swizzle {

/// First in, first out, linked through the frames. A frame is in one queue at a time.
class FrameQueue {
 public:
  void push(Frame& frame) noexcept {
    const std::lock_guard hold(mutex_);
    frame.next_in_queue = nullptr;
    if (last_ != nullptr)
      last_->next_in_queue = &frame;
    else
      first_ = &frame;
    last_ = &frame;
    size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Null when empty.
  Frame* pop() noexcept {
    if (size() == 0) return nullptr;
    const std::lock_guard hold(mutex_);
    Frame* frame = first_;
    if (frame == nullptr) return nullptr;
    first_ = frame->next_in_queue;
    if (first_ == nullptr) last_ = nullptr;
    frame->next_in_queue = nullptr;
    size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return frame;
  }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return size_.load(std::memory_order_relaxed);
  }

 private:
  SpinMutex mutex_;
  Frame* first_ = nullptr;
  Frame* last_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace swizzle
