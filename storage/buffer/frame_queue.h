#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "storage/buffer/frame_arena.h"
#include "storage/latch/spin_latch.h"

namespace swizzle {

/// FIFO queue of frames, linked through the frames. A frame is in one queue at a time.
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
  /// Returns the first frame; null if empty.
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
  /// Visits the frames from first to last while `visit` returns true. Pre: the pool is not in use.
  template <class Visit>
  void look_through(Visit visit) const {
    for (const Frame* frame = first_; frame != nullptr && visit(*frame);)
      frame = frame->next_in_queue;
  }

 private:
  SpinLatch mutex_;
  Frame* first_ = nullptr;
  Frame* last_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
};

/// One queue for each partition of the arena: a frame is in its own partition's queue. pop() begins
/// with the partition of the thread's memory node.
class PartitionedQueue {
 public:
  explicit PartitionedQueue(const FrameArena& arena) : queues_(arena.partition_count()) {}

  void push(const FrameArena& arena, Frame& frame) noexcept {
    queues_[arena.partition_of(frame)].queue.push(frame);
  }
  /// Returns a frame; null if all queues are empty.
  Frame* pop(const FrameArena& arena) noexcept {
    const std::size_t home = arena.home_partition();
    for (std::size_t i = 0; i < queues_.size(); ++i)
      if (Frame* frame = queues_[(home + i) % queues_.size()].queue.pop()) return frame;
    return nullptr;
  }
  [[nodiscard]] std::uint32_t size() const noexcept {
    std::uint32_t size = 0;
    for (const Padded& padded : queues_) size += padded.queue.size();
    return size;
  }
  /// Pre: the pool is not in use.
  template <class Visit>
  void look_through(Visit visit) const {
    for (const Padded& padded : queues_) padded.queue.look_through(visit);
  }

 private:
  struct alignas(64) Padded {
    FrameQueue queue;
  };
  std::vector<Padded> queues_;
};

}  // namespace swizzle
