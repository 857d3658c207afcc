#include "base/runtime/watchdog.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/runtime/stack_trace.h"

namespace swizzle {
namespace {

// The signal comes to the watched thread itself.
thread_local Watchdog* on_duty = nullptr;

}  // namespace

Watchdog::Watchdog(const std::atomic<std::uint64_t>& progress, std::chrono::milliseconds limit,
                   std::function<std::string()> what)
    : progress_(progress),
      last_seen_(progress.load(std::memory_order_relaxed)),
      what_(std::move(what)) {
  INVARIANT(on_duty == nullptr);
  on_duty = this;
  struct sigaction action{};
  action.sa_handler = &Watchdog::tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);

  sigevent to_this_thread{};
  to_this_thread.sigev_notify = SIGEV_THREAD_ID;
  to_this_thread.sigev_signo = SIGUSR2;
  to_this_thread._sigev_un._tid = gettid();  // glibc has no name for it
  if (timer_create(CLOCK_MONOTONIC, &to_this_thread, &timer_) != 0) {
    on_duty = nullptr;
    throw std::system_error{errno, std::system_category(), "timer_create"};
  }
  const timespec period{.tv_sec = limit.count() / 1000,
                        .tv_nsec = limit.count() % 1000 * 1'000'000};
  const itimerspec every{.it_interval = period, .it_value = period};
  timer_settime(timer_, 0, &every, nullptr);
}

Watchdog::~Watchdog() {
  timer_delete(timer_);
  on_duty = nullptr;
}

void Watchdog::tick(int /*signal*/) {
  Watchdog* watchdog = on_duty;
  if (watchdog == nullptr) return;
  const std::uint64_t now = watchdog->progress_.load(std::memory_order_relaxed);
  if (std::exchange(watchdog->last_seen_, now) != now) return;
  // A signal handler should not do this; but the thread will never do anything else again.
  std::fprintf(stderr, "%s\n", watchdog->what_().c_str());
  const std::array trace{stack_trace()};
  for (const auto& line : describe_stack_traces(trace)) {
    std::fprintf(stderr, "    %s\n", line.c_str());
  }
  std::fflush(stderr);
  std::abort();
}

}  // namespace swizzle
