#pragma once

#include <sys/epoll.h>

#include <optional>

#include "base/runtime/runtime.h"

namespace swizzle {

/// One thread's epoll instance. Descriptors are watched for their whole life, and announce each
/// change once (edge-triggered): a wait costs no system call of its own. Belongs to the reactor's
/// thread.
class Poller {
 public:
  /// Receives a descriptor's changes. Must live as long as the descriptor is watched.
  class Listener {
   public:
    Listener() = default;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    virtual ~Listener() = default;
    /// `events` as epoll reports them. Runs outside of any fiber: it may unpark, but not park.
    virtual void changed(std::uint32_t events) noexcept = 0;
  };

  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  /// Announces `events` (EPOLLIN …) from now on, the present ones first. Throws std::system_error
  /// when the system has no memory for it.
  void watch(int descriptor, std::uint32_t events, Listener& listener);
  /// Replaces the watched events; the present ones are announced first.
  void change(int descriptor, std::uint32_t events, Listener& listener) noexcept;
  void forget(int descriptor) noexcept;

  /// Calls the listeners of changed descriptors; returns true if there were any.
  bool poll() noexcept { return announce(0); }
  /// The same, after waiting for a change until `deadline` at most.
  void wait(std::optional<TimePoint> deadline) noexcept;

 private:
  /// Throws, but only watch() lets the exception out: changing and forgetting cannot fail.
  void control(int operation, int descriptor, epoll_event event);
  bool announce(int timeout_ms) noexcept;

  int epoll_;
};

}  // namespace swizzle
