#include "server/main/process_signals.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/invariant.h"

namespace swizzle::server {
namespace {

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

int open_descriptor() {
  const sigset_t signals = handled_signals();
  const int descriptor = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error{errno, std::system_category(), "signalfd"};
  return descriptor;
}

}  // namespace

void ProcessSignals::block() {
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ProcessSignals::ProcessSignals(boost::asio::io_context& events)
    : events_(events), descriptor_(events, open_descriptor()) {}

void ProcessSignals::read(SignalActions actions) {
  INVARIANT(!is_reading_);
  actions_ = std::move(actions);
  is_reading_ = true;
  await();
}

void ProcessSignals::end() {
  // A signal that is read by now is obeyed, and none is awaited after it.
  is_reading_ = false;
  descriptor_.cancel();
  events_.restart();
  events_.poll();
  events_.restart();
  actions_ = {};
}

void ProcessSignals::await() {
  descriptor_.async_read_some(boost::asio::buffer(&signal_, sizeof signal_),
                              [this](const boost::system::error_code& failure, std::size_t bytes) {
                                if (failure == boost::asio::error::operation_aborted) return;
                                INVARIANT(!failure && bytes == sizeof signal_);
                                obey(static_cast<int>(signal_.ssi_signo));
                                if (is_reading_) await();
                              });
}

void ProcessSignals::obey(int signal) {
  switch (signal) {
    case SIGHUP:
      return actions_.reload();
    case SIGUSR1:
      return actions_.promote();
    case SIGTERM:
      spdlog::info("received smart shutdown request");
      return actions_.stop(StopMode::smart);
    case SIGINT:
      spdlog::info("received fast shutdown request");
      return actions_.stop(StopMode::fast);
    default:
      spdlog::info("received immediate shutdown request");
      spdlog::shutdown();
      // No checkpoint and no messages: everything acknowledged is in the log.
      ::_exit(2);
  }
}

}  // namespace swizzle::server
