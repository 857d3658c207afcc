#pragma once

#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace swizzle::server {

/// The signals that end, promote or reload a server. They arrive as events of the main thread, so
/// that what obeys them may lock and allocate. One reader at a time.
class ProcessSignals {
 public:
  /// Blocks them in the calling thread and those that it starts. Call before the first thread.
  static void block();

  /// Pre: block() was called. Throws std::system_error.
  explicit ProcessSignals(boost::asio::io_context& events);
  ProcessSignals(const ProcessSignals&) = delete;
  ProcessSignals& operator=(const ProcessSignals&) = delete;

  /// Calls `obey` for each signal while `events` run, until it returns false.
  enum class Next : bool { end, read };
  using Obey = std::function<Next(int signal)>;
  void read(Obey obey);
  /// Ends the reading. Runs and restarts `events`, so that the cancelled read has reported before
  /// what `obey` refers to goes. Pre: no thread runs `events`.
  void end();

 private:
  void await();

  boost::asio::io_context& events_;
  boost::asio::posix::stream_descriptor descriptor_;
  signalfd_siginfo signal_{};
  Obey obey_;
};

}  // namespace swizzle::server
