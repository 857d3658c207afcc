#include "base/runtime/thread_runtime.h"

#include <pthread.h>
#include <sched.h>

#include <thread>
#include <utility>

#include "base/random.h"
#include "base/runtime/futex_parker.h"
#include "base/runtime/helper_threads.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/park_rules.h"
#include "base/runtime/spin.h"

namespace swizzle {
namespace {

class ThreadTask final : public Task {
 public:
  explicit ThreadTask(std::thread thread) noexcept : thread_(std::move(thread)) {}
  ~ThreadTask() override { wait(); }
  void join() noexcept override { wait(); }

 private:
  void wait() noexcept {
    assert_no_latch_held();
    if (thread_.joinable()) thread_.join();
  }
  std::thread thread_;
};

void name_this_thread(const std::string& name) {
  constexpr std::size_t kLongest = 15;  // the kernel's limit
  pthread_setname_np(pthread_self(), name.substr(0, kLongest).c_str());
}

}  // namespace

ThreadRuntime& ThreadRuntime::of_the_process() noexcept {
  // Threads may outlive static destruction. Without memory for this no process begins.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
  static ThreadRuntime& runtime = *new ThreadRuntime;
  return runtime;
}

Parker& ThreadRuntime::parker() noexcept {
  return parker_of_this_thread();
}

std::unique_ptr<Task> ThreadRuntime::spawn(std::string name, std::function<void()> body) {
  return std::make_unique<ThreadTask>(
      std::thread{[this, name = std::move(name), body = std::move(body)]() noexcept {
        name_this_thread(name);
        const RuntimeScope scope{*this};
        body();
      }});
}

TimePoint ThreadRuntime::now() noexcept {
  return std::chrono::steady_clock::now();
}

std::int64_t ThreadRuntime::wall_clock_us() noexcept {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

std::uint64_t ThreadRuntime::random() noexcept {
  thread_local Random generator{system_entropy()};
  return generator();
}

void ThreadRuntime::yield() noexcept {
  assert_no_latch_held();
  sched_yield();
}

void ThreadRuntime::relax() noexcept {
  cpu_relax();
}

void ThreadRuntime::run_abandonable(std::function<void()> work) {
  // Without an overseer no request could end the caller.
  if (parker().overseer == nullptr || !may_park()) return work();
  HelperThreads::of_the_process().run_abandonable_for(parker(), std::move(work));
}

}  // namespace swizzle
