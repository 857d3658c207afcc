#include "base/fibers/turn_watch.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "base/fibers/fiber_runtime.h"
#include "base/fibers/reactor.h"
#include "base/fibers/signal_report.h"

namespace swizzle {
namespace {

constexpr int kLooksPerPatience = 4;
constexpr int kLonger = 4;

std::atomic<int> report_descriptor{-1};

int report_signal() noexcept {
  return SIGRTMIN + 1;
}

/// On the reactor's thread, within its turn or just after it.
void on_report_signal(int /*number*/) noexcept {
  const int error = errno;
  const Reactor* reactor = Reactor::current();
  const std::optional<TimePoint> begin = reactor == nullptr ? std::nullopt : reactor->turn_begin();
  if (begin) {
    SignalReport report;
    report.add("WARNING:  reactor ");
    report.add_number(reactor->number());
    report.add(" has run one task for ");
    const Duration lasted = std::chrono::steady_clock::now() - *begin;
    report.add_number(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(lasted).count()));
    report.add(" ms; its other sessions wait\n");
    report.add_work();
    report.write_with_stack(report_descriptor.load(std::memory_order_relaxed));
  }
  errno = error;
}

void listen_for_reports(int descriptor) noexcept {
  report_descriptor.store(descriptor, std::memory_order_relaxed);
  SignalReport::prepare();
  struct sigaction action{};
  action.sa_handler = &on_report_signal;
  // Runs on the reactor's own signal stack; the interrupted code goes on afterwards.
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(report_signal(), &action, nullptr);
}

}  // namespace

TurnWatch::TurnWatch(const FiberRuntime& runtime, int descriptor, Duration patience)
    : runtime_(runtime), patience_(patience), seen_(runtime.reactor_count()) {
  listen_for_reports(descriptor);
  thread_ = std::thread{[this] { run(); }};
}

TurnWatch::~TurnWatch() {
  {
    const std::scoped_lock lock{mutex_};
    is_stopping_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void TurnWatch::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "turn watch");
  std::unique_lock lock{mutex_};
  while (!stopped_.wait_for(lock, patience_ / kLooksPerPatience, [this] { return is_stopping_; })) {
    for (std::size_t reactor = 0; reactor < seen_.size(); ++reactor) look(reactor);
  }
}

void TurnWatch::look(std::size_t reactor) noexcept {
  const std::optional<TimePoint> begin = runtime_.turn_begin(reactor);
  if (!begin) return;
  Seen& seen = seen_[reactor];
  if (*begin != seen.begin) seen = {*begin, patience_};
  const Duration lasted = std::chrono::steady_clock::now() - *begin;
  if (lasted < seen.next_report) return;
  seen.next_report = lasted * kLonger;
  runtime_.signal(reactor, report_signal());
}

}  // namespace swizzle
