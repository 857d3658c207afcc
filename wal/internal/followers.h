#pragma once

#include <atomic>
#include <mutex>
#include <vector>

namespace swizzle::wal {

class LogFollower;

/// The list of followers to be woken when more has become durable. The writer checks it once per
/// write; without followers that is one load. Thread-safe.
class Followers {
 public:
  void add(LogFollower& follower);
  void remove(LogFollower& follower) noexcept;
  /// Sequentially consistent with tell(): the writer sees the waiting follower, or the follower
  /// sees what the writer has written.
  void announce_wait() noexcept { somebody_waits_.store(true); }
  void tell() noexcept {
    if (somebody_waits_.load()) tell_all();
  }

 private:
  void tell_all() noexcept;

  std::atomic<bool> somebody_waits_{false};
  std::mutex mutex_;
  std::vector<LogFollower*> all_;
};

}  // namespace swizzle::wal
