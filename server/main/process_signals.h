#pragma once

#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>

namespace swizzle::server {

enum class StopMode : std::uint8_t {
  smart,  ///< TERM: no new connections; ends when the last one has left
  fast,   ///< INT: ends all connections, then closes in order
};

/// Does what a signal asks for, in the main thread.
struct SignalActions {
  std::function<void()> reload;   ///< HUP
  std::function<void()> promote;  ///< USR1
  std::function<void(StopMode)> stop;
};

/// The signals that end, promote or reload a server. They arrive as events of the main thread, so
/// that actions may lock and allocate. QUIT ends the process at once, like a crash: the next start
/// recovers. One reader at a time.
class ProcessSignals {
 public:
  /// Blocks them in the calling thread and those that it starts. Call before the first thread.
  static void block();

  /// Pre: block() was called. Throws std::system_error.
  explicit ProcessSignals(boost::asio::io_context& events);
  ProcessSignals(const ProcessSignals&) = delete;
  ProcessSignals& operator=(const ProcessSignals&) = delete;

  /// Calls an action for each signal while `events` run.
  void read(SignalActions actions);
  /// Ends the reading. Runs and restarts `events`, so that the cancelled read has reported before
  /// the objects of the actions go. Pre: no thread runs `events`.
  void end();

 private:
  void await();
  void obey(int signal);

  boost::asio::io_context& events_;
  boost::asio::posix::stream_descriptor descriptor_;
  signalfd_siginfo signal_{};
  SignalActions actions_;
  bool is_reading_ = false;
};

}  // namespace swizzle::server
