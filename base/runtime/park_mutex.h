#pragma once

#include <atomic>
#include <mutex>

#include "base/runtime/park_rules.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// A mutex whose waiters park, so that it may be held across file transfers and other parks, unlike
/// a latch. First come, first served. Meets BasicLockable: use std::lock_guard.
class ParkMutex {
 public:
  ParkMutex() = default;
  ParkMutex(const ParkMutex&) = delete;
  ParkMutex& operator=(const ParkMutex&) = delete;

  [[nodiscard]] bool try_lock() noexcept {
    const std::lock_guard guard{mutex_};
    if (held_) return false;
    held_ = true;
    return true;
  }

  /// Pre: no latch held.
  void lock() noexcept {
    assert_may_park();
    Waiter self{.parker = &Runtime::current().parker()};
    {
      const std::lock_guard guard{mutex_};
      if (!held_) {
        held_ = true;
        return;
      }
      (first_ == nullptr ? first_ : last_->next) = &self;
      last_ = &self;
    }
    // Acquire: sees the previous holder's writes.
    while (!self.granted.load(std::memory_order_acquire)) self.parker->park();
  }

  void unlock() noexcept {
    Parker* next = nullptr;
    {
      const std::lock_guard guard{mutex_};
      if (first_ == nullptr) {
        held_ = false;
        return;
      }
      Waiter& waiter = *first_;
      first_ = waiter.next;
      next = waiter.parker;
      // Release: publishes our writes. The waiter may be gone right after it.
      waiter.granted.store(true, std::memory_order_release);
    }
    next->unpark();
  }

 private:
  struct Waiter {
    Parker* parker;
    std::atomic<bool> granted{false};
    Waiter* next = nullptr;
  };

  // Held for a few instructions, never across a park.
  std::mutex mutex_;
  bool held_ = false;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace swizzle
