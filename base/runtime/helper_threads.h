#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Threads for work that would keep a reactor too long and cannot yield: see Runtime::run_aside.
/// They start when none is idle, and stay. The system shares the processors among them and the
/// reactors. Thread-safe.
class HelperThreads {
 public:
  /// Never destroyed: its threads end with the process.
  static HelperThreads& of_the_process();

  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  /// Pre: `caller` is the calling fiber's and may park.
  void run_for(Parker& caller, const std::function<void()>& work);
  void run_abandonable_for(Parker& caller, std::function<void()> work);
  /// Destroys an object some time soon, because freeing much memory takes long, too.
  template <class T>
  void destroy(T what) noexcept {
    try {
      enqueue([owned = std::make_shared<T>(std::move(what))]() mutable { owned.reset(); });
    } catch (const std::bad_alloc&) {
      // Without memory for the queue it has been destroyed here.
    }
  }

 private:
  HelperThreads() = default;
  ~HelperThreads() = default;

  void enqueue(std::function<void()> job);
  void serve() noexcept;
  bool begin_abandonable();
  void end_abandonable();

  /// More work than this waits in a queue.
  static constexpr std::size_t kMostThreads = 64;
  /// Additional threads for work that cannot be ended, since a helper may wait for it.
  static constexpr std::size_t kMostAbandonable = 8;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  std::size_t abandonable_ = 0;
};

}  // namespace swizzle
