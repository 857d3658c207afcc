#include "base/fibers/fiber.h"

#include <utility>

#include "base/fibers/reactor.h"
#include "base/runtime/park_rules.h"

namespace swizzle {
namespace {

struct FiberPool {
  std::mutex mutex;
  std::vector<std::unique_ptr<Fiber>> all;
  std::vector<Fiber*> free;
};

FiberPool& pool() {
  static FiberPool& fibers = *new FiberPool;  // see Fiber
  return fibers;
}

}  // namespace

Fiber& Fiber::make() {
  const std::lock_guard guard{pool().mutex};
  auto& free = pool().free;
  if (free.empty()) {
    auto made = std::make_unique<Fiber>();
    // Room to recycle all of them: recycling must not need memory.
    if (free.capacity() <= pool().all.size()) free.reserve(2 * (pool().all.size() + 1));
    return *pool().all.emplace_back(std::move(made));
  }
  Fiber* fiber = free.back();
  free.pop_back();
  return *fiber;
}

void Fiber::recycle(Fiber& fiber) noexcept {
  const std::lock_guard guard{pool().mutex};
  pool().free.push_back(&fiber);
}

void FiberEnd::wait() noexcept {
  Parker& parker = Runtime::current().parker();
  {
    const std::lock_guard guard{mutex_};
    if (ended_) return;
    waiting_.push_back(&parker);
  }
  for (;;) {
    parker.park();
    const std::lock_guard guard{mutex_};
    if (ended_) return;
  }
}

void FiberEnd::announce() noexcept {
  std::vector<Parker*> waiting;
  {
    const std::lock_guard guard{mutex_};
    ended_ = true;
    waiting.swap(waiting_);
  }
  for (Parker* parker : waiting) parker->unpark();
}

bool Fiber::take_notification() noexcept {
  std::uint32_t expected = notified;
  // Acquire: what the waker wrote before unpark() is seen after park().
  return state_.compare_exchange_strong(expected, awake, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

bool Fiber::fall_asleep() noexcept {
  std::uint32_t expected = awake;
  // Release: the waker takes over the fiber's links.
  return state_.compare_exchange_strong(expected, parked, std::memory_order_release,
                                        std::memory_order_relaxed);
}

void Fiber::park() noexcept {
  assert_may_park();
  INVARIANT(reactor_->running_fiber() == this);
  if (take_notification()) return;
  // From here on a waker may put us into the inbox. Only our own thread takes us out again, and it
  // is still running us.
  if (fall_asleep()) reactor_->suspend();
  // Acquire: as in take_notification.
  state_.exchange(awake, std::memory_order_acquire);
}

bool Fiber::park_until(TimePoint when) noexcept {
  assert_may_park();
  INVARIANT(reactor_->running_fiber() == this);
  if (take_notification()) return true;
  if (fall_asleep()) reactor_->suspend_until(when);
  // Acquire: as in take_notification. A wake that came with the timeout counts as a wake.
  return state_.exchange(awake, std::memory_order_acquire) == notified;
}

void Fiber::unpark() noexcept {
  // Release: publishes what the waker wrote. The thread that turns `parked` into `notified` owns
  // the fiber's place in a queue, so it cannot run, or end, before make_ready has released it.
  if (state_.exchange(notified, std::memory_order_acq_rel) == parked) reactor_->make_ready(*this);
}

void Fiber::run_body() noexcept {
  body_();
  body_ = nullptr;
  refused_ = nullptr;
  if (const auto end = std::exchange(end_, nullptr)) end->announce();
}

}  // namespace swizzle
