#include "base/fibers/descriptor_watch.h"

#include "base/fibers/fiber.h"
#include "base/fibers/reactor.h"

namespace swizzle {
namespace {

constexpr std::uint32_t kForReading = EPOLLIN | EPOLLRDHUP;
/// epoll reports a broken or closed descriptor by these, whatever was requested; the next read or
/// write returns the error.
constexpr std::uint32_t kBroken = EPOLLERR | EPOLLHUP;

Reactor& this_reactor() noexcept {
  Reactor* const reactor = Reactor::current();
  INVARIANT(reactor != nullptr && reactor->running_fiber() != nullptr);
  return *reactor;
}

}  // namespace

DescriptorWatch::DescriptorWatch(int descriptor)
    : poller_(this_reactor().poller()),
      owner_(*this_reactor().running_fiber()),
      descriptor_(descriptor) {
  poller_.watch(descriptor_, kForReading, *this);
}

DescriptorWatch::~DescriptorWatch() {
  // Listeners are called between turns, so no call is under way for this one.
  poller_.forget(descriptor_);
}

bool DescriptorWatch::wait(Direction direction, std::optional<TimePoint> deadline) noexcept {
  if (direction == Direction::writing && !hears_of_room_) {
    poller_.change(descriptor_, kForReading | EPOLLOUT, *this);
    hears_of_room_ = true;
  }
  bool& is_ready = direction == Direction::reading ? is_readable_ : is_writable_;
  if (!is_ready && !park(deadline)) return false;
  is_ready = false;
  if (hears_of_room_) {
    poller_.change(descriptor_, kForReading, *this);
    hears_of_room_ = false;
  }
  return true;
}

bool DescriptorWatch::park(std::optional<TimePoint> deadline) noexcept {
  is_waited_for_ = true;
  bool in_time = true;
  if (deadline) {
    in_time = owner_.park_until(*deadline);
  } else {
    owner_.park();
  }
  is_waited_for_ = false;
  return in_time;
}

void DescriptorWatch::changed(std::uint32_t events) noexcept {
  if ((events & (kForReading | kBroken)) != 0) is_readable_ = true;
  if ((events & (EPOLLOUT | kBroken)) != 0) is_writable_ = true;
  if (is_waited_for_) owner_.unpark();
}

}  // namespace swizzle
