#include "wal/log_follower.h"

#include "wal/internal/followers.h"
#include "wal/log.h"

namespace swizzle::wal {

LogFollower::LogFollower(const Log& log, std::function<void()> wake)
    : log_(log), followers_(log.followers()), wake_(std::move(wake)) {
  if (followers_ != nullptr) followers_->add(*this);
}

LogFollower::~LogFollower() {
  if (followers_ != nullptr) followers_->remove(*this);
}

bool LogFollower::awaits_more_than(Lsn known) noexcept {
  if (followers_ == nullptr) return true;
  is_waiting_.store(true);
  followers_->announce_wait();
  if (log_.durable() <= known) return true;
  is_waiting_.store(false);
  return false;
}

}  // namespace swizzle::wal
