#pragma once

#include <liburing.h>

#include <memory>
#include <span>

#include "base/io/file.h"

namespace swizzle {

/// One io_uring carrying IoRequests. Not thread-safe, but one thread may start() and flush() while
/// another wait()s and reap()s. At most `capacity()` requests are under way; the caller counts.
class Uring {
 public:
  enum class Use : std::uint8_t {
    /// Threads share it under a lock of their own.
    many_threads,
    /// Only the thread that makes it ever touches it. The kernel then finishes requests on that
    /// thread when it asks, without interrupts.
    one_thread,
  };
  struct Completion {
    IoRequest* request;
    int result;
  };

  /// Null when the kernel refuses.
  static std::unique_ptr<Uring> open(unsigned capacity, Use use) noexcept;
  /// 0, or the errno with which the kernel refuses io_uring to this process. Asked once.
  static int refusal() noexcept;

  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;
  ~Uring();

  [[nodiscard]] unsigned capacity() const noexcept { return capacity_; }
  /// While on, the kernel adds 1 to an event descriptor when a request is finished, so that a
  /// thread may sleep on that descriptor. False when the kernel refuses.
  bool announce_completions_through(int event_descriptor) noexcept;
  enum class Announce : std::uint8_t { off, on };
  void set_announcing(Announce announce) noexcept;
  /// True if flush_and_poll() and reap() would find something.
  [[nodiscard]] bool has_finished() const noexcept;

  /// Queues the next step of a request; flush() hands everything queued to the kernel.
  void start(IoRequest& request) noexcept;
  /// Queues nothing but a completion with a null request: ends another thread's wait().
  void start_wake() noexcept;
  [[nodiscard]] bool has_unflushed() const noexcept { return unflushed_ != 0; }
  void flush() noexcept;
  /// Blocks until there is something to reap.
  void wait() noexcept;
  /// flush(), and lets the kernel finish its ready requests (Use::one_thread), in one call at most.
  void flush_and_poll() noexcept;
  /// Takes finished steps, as many as fit; to be judged by advance_transfer().
  std::span<Completion> reap(std::span<Completion> into) noexcept;

 private:
  Uring() = default;
  io_uring_sqe& next_entry() noexcept;
  [[nodiscard]] bool kernel_holds_back() const noexcept;

  io_uring ring_{};
  unsigned capacity_ = 0;
  unsigned unflushed_ = 0;
};

}  // namespace swizzle
