#include "base/runtime/futex_parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <mutex>
#include <vector>

#include "base/runtime/park_rules.h"

namespace swizzle {
namespace {

// Parkers are recycled and never freed: see ThreadRuntime::parker().
class ParkerPool {
 public:
  FutexParker* take() {
    const std::lock_guard guard{mutex_};
    if (free_.empty()) return all_.emplace_back(std::make_unique<FutexParker>()).get();
    FutexParker* parker = free_.back();
    free_.pop_back();
    return parker;
  }
  void give_back(FutexParker* parker) {
    const std::lock_guard guard{mutex_};
    free_.push_back(parker);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<FutexParker>> all_;
  std::vector<FutexParker*> free_;
};

ParkerPool& parker_pool() {
  static ParkerPool& pool = *new ParkerPool;  // outlives every thread, detached ones too
  return pool;
}

struct ThreadsParker {
  ThreadsParker() : parker(parker_pool().take()) {}
  ThreadsParker(const ThreadsParker&) = delete;
  ThreadsParker& operator=(const ThreadsParker&) = delete;
  ~ThreadsParker() { parker_pool().give_back(parker); }
  FutexParker* parker;
};

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Waits on the futex; returns errno, 0 when woken.
int futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
               const timespec* deadline) noexcept {
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline,
                              nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

timespec to_timespec(TimePoint deadline) noexcept {
  const auto since_epoch = deadline.time_since_epoch().count();
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (since_epoch <= 0) return {.tv_sec = 0, .tv_nsec = 0};
  return {.tv_sec = since_epoch / kSecond, .tv_nsec = since_epoch % kSecond};
}

}  // namespace

FutexParker& parker_of_this_thread() noexcept {
  thread_local ThreadsParker mine;
  return *mine.parker;
}

bool FutexParker::take_notification() noexcept {
  std::uint32_t expected = notified;
  // acquire: observes what the waker wrote before unpark().
  return state_.compare_exchange_strong(expected, idle, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}

void FutexParker::park() noexcept {
  assert_may_park();
  if (take_notification()) return;
  std::uint32_t expected = idle;
  if (state_.compare_exchange_strong(expected, parked, std::memory_order_relaxed)) {
    while (state_.load(std::memory_order_relaxed) == parked) futex_wait(state_, parked, nullptr);
  }
  // acquire: as in take_notification().
  state_.exchange(idle, std::memory_order_acquire);
}

bool FutexParker::park_until(TimePoint deadline) noexcept {
  assert_may_park();
  if (take_notification()) return true;
  const timespec until = to_timespec(deadline);
  std::uint32_t expected = idle;
  if (state_.compare_exchange_strong(expected, parked, std::memory_order_relaxed)) {
    while (state_.load(std::memory_order_relaxed) == parked) {
      if (futex_wait(state_, parked, &until) == ETIMEDOUT) break;
    }
  }
  // A wake-up that coincides with the timeout counts as a wake-up. acquire: as in
  // take_notification().
  return state_.exchange(idle, std::memory_order_acquire) == notified;
}

void FutexParker::unpark() noexcept {
  // release: publishes what the waker wrote.
  if (state_.exchange(notified, std::memory_order_release) != parked) return;
  syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace swizzle
