#pragma once

#include <atomic>
#include <functional>

#include "base/ids.h"

namespace swizzle::wal {

class Followers;
class Log;

/// Wakes a reader of the growing log when more of it has become durable. Costs writers nothing
/// while no follower waits. Must be destroyed before the log.
class LogFollower {
 public:
  /// `wake` is called by the log's writer: it neither waits nor throws.
  LogFollower(const Log& log, std::function<void()> wake);
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;
  /// `wake` is not called any more.
  ~LogFollower();

  /// Returns true if nothing after `known` is durable. Then `wake` is called once, as soon as
  /// there is more; it may have been called for nothing.
  bool awaits_more_than(Lsn known) noexcept;

 private:
  friend class Followers;
  void wake_if_waiting() noexcept {
    if (is_waiting_.exchange(false)) wake_();
  }

  const Log& log_;
  /// Null if nothing is logged, so that nothing will come.
  Followers* const followers_;
  const std::function<void()> wake_;
  std::atomic<bool> is_waiting_{false};
};

}  // namespace swizzle::wal
