#include "wal/internal/followers.h"

#include "wal/log_follower.h"

namespace swizzle::wal {

void Followers::add(LogFollower& follower) {
  const std::lock_guard guard{mutex_};
  all_.push_back(&follower);
}

void Followers::remove(LogFollower& follower) noexcept {
  const std::lock_guard guard{mutex_};
  std::erase(all_, &follower);
}

void Followers::tell_all() noexcept {
  // First: a follower that begins to wait now sees this write, or is woken by the next.
  somebody_waits_.store(false);
  const std::lock_guard guard{mutex_};
  for (LogFollower* const follower : all_) follower->wake_if_waiting();
}

}  // namespace swizzle::wal
