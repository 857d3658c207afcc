#include "server/main/process_signals.h"

#include <pthread.h>

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

void ProcessSignals::read(Obey obey) {
  INVARIANT(!obey_);
  obey_ = std::move(obey);
  await();
}

void ProcessSignals::end() {
  descriptor_.cancel();
  events_.restart();
  events_.poll();
  events_.restart();
  obey_ = nullptr;
}

void ProcessSignals::await() {
  descriptor_.async_read_some(boost::asio::buffer(&signal_, sizeof signal_),
                              [this](const boost::system::error_code& failure, std::size_t bytes) {
                                if (failure == boost::asio::error::operation_aborted) return;
                                INVARIANT(!failure && bytes == sizeof signal_);
                                if (obey_(static_cast<int>(signal_.ssi_signo)) == Next::read)
                                  await();
                              });
}

}  // namespace swizzle::server
