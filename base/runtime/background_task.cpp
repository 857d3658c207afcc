#include "base/runtime/background_task.h"

#include <utility>

#include "base/invariant.h"

namespace swizzle {

void BackgroundTask::start(std::string name, std::function<void()> body) {
  INVARIANT(task_ == nullptr);
  stopping_.store(false);
  task_ = Runtime::current().spawn(std::move(name), [this, body = std::move(body)] {
    // Sequentially consistent with wake() and stop(): they see the parker, or we see their flags.
    parker_.store(&Runtime::current().parker());
    body();
    parker_.store(nullptr);
  });
}

void BackgroundTask::stop() noexcept {
  if (task_ == nullptr) return;
  stopping_.store(true);
  if (Parker* const parker = parker_.load()) parker->unpark();
  task_->join();
  task_.reset();
}

void BackgroundTask::wake() noexcept {
  // If the flag was raised already, the thread that raised it unparks the task.
  if (woken_.exchange(true)) return;
  // The body may have ended meanwhile: parkers are recycled, never freed (Parker::unpark).
  if (Parker* const parker = parker_.load()) parker->unpark();
}

void BackgroundTask::wait() noexcept {
  while (!woken_.exchange(false) && !stopping_.load()) Runtime::current().parker().park();
}

void BackgroundTask::wait_until(TimePoint deadline) noexcept {
  Runtime& runtime = Runtime::current();
  while (!woken_.exchange(false) && !stopping_.load() && runtime.now() < deadline)
    runtime.parker().park_until(deadline);
}

void BackgroundTask::pause_until(TimePoint deadline) noexcept {
  Runtime& runtime = Runtime::current();
  while (!stopping_.load() && runtime.now() < deadline) runtime.parker().park_until(deadline);
}

}  // namespace swizzle
