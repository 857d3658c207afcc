#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime/coroutine.h"
#include "base/runtime/runtime.h"
#include "base/runtime/timer_heap.h"

namespace swizzle {

class CrashSubject;
class Reactor;

/// Lets any number of threads and fibers wait for the end of one fiber.
class FiberEnd {
 public:
  void wait() noexcept;
  void announce() noexcept;

 private:
  std::mutex mutex_;
  std::vector<Parker*> waiting_;
  bool ended_ = false;
};

/// A fiber of a FiberRuntime; other code knows it as a Parker. Recycled, never freed: a late
/// unpark(), after the fiber or even its runtime has ended, at worst causes a spurious wake of a
/// later fiber.
class Fiber final : public Parker, public TimerHeapNode {
 public:
  void park() noexcept override;
  bool park_until(TimePoint deadline) noexcept override;
  void unpark() noexcept override;
  void set_wakeup_priority(WakeupPriority priority) noexcept override {
    wakeup_priority_ = priority;
  }

  /// Names the fiber's work for a crash report; null for nothing in particular.
  void set_crash_subject(const CrashSubject* subject) noexcept { crash_subject_ = subject; }
  [[nodiscard]] const CrashSubject* crash_subject() const noexcept { return crash_subject_; }

 private:
  friend class Reactor;
  friend class FiberRuntime;
  friend class FiberQueue;

  enum State : std::uint32_t {
    /// Runs, is about to run, or is asleep with its wake already under way to the reactor.
    awake,
    notified,
    parked,
  };

  static Fiber& make();
  static void recycle(Fiber& fiber) noexcept;

  [[nodiscard]] bool take_notification() noexcept;
  /// Returns false when a notification came first.
  [[nodiscard]] bool fall_asleep() noexcept;
  void run_body() noexcept;

  std::atomic<std::uint32_t> state_{awake};
  Reactor* reactor_ = nullptr;
  /// Accessed by the fiber while it runs, and by the reactor once it sleeps.
  WakeupPriority wakeup_priority_ = WakeupPriority::normal;
  /// In the reactor's inbox or in one of its queues of ready fibers, never in two.
  Fiber* next_ = nullptr;
  std::string name_;
  std::function<void()> body_;
  /// Called in place of the body if there is no memory to run it; may be empty.
  std::function<void()> refused_;
  std::shared_ptr<FiberEnd> end_;
  std::optional<Coroutine> coroutine_;
  const CrashSubject* crash_subject_ = nullptr;
};

/// First in, first out. Not thread-safe.
class FiberQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push(Fiber& fiber) noexcept {
    fiber.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &fiber;
    last_ = &fiber;
    ++size_;
  }
  Fiber& pop() noexcept {
    Fiber& fiber = *first_;
    first_ = fiber.next_;
    --size_;
    return fiber;
  }

 private:
  Fiber* first_ = nullptr;
  Fiber* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace swizzle
