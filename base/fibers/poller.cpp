#include "base/fibers/poller.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace swizzle {
namespace {

epoll_event entry(std::uint32_t events, Poller::Listener& listener) noexcept {
  epoll_event made{};
  made.events = events | EPOLLET;
  made.data.ptr = &listener;
  return made;
}

/// epoll counts in milliseconds: rounded up, so that no wait ends too early.
int timeout_until(TimePoint deadline) noexcept {
  using namespace std::chrono;
  const auto left = ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::system_error{errno, std::system_category(), "epoll_create1"};
}

Poller::~Poller() {
  ::close(epoll_);
}

void Poller::control(int operation, int descriptor, epoll_event event) {
  if (::epoll_ctl(epoll_, operation, descriptor, &event) != 0) {
    throw std::system_error{errno, std::system_category(), "epoll_ctl"};
  }
}

void Poller::watch(int descriptor, std::uint32_t events, Listener& listener) {
  control(EPOLL_CTL_ADD, descriptor, entry(events, listener));
}

void Poller::change(int descriptor, std::uint32_t events, Listener& listener) noexcept {
  control(EPOLL_CTL_MOD, descriptor, entry(events, listener));
}

void Poller::forget(int descriptor) noexcept {
  control(EPOLL_CTL_DEL, descriptor, {});
}

void Poller::wait(std::optional<TimePoint> deadline) noexcept {
  announce(deadline ? timeout_until(*deadline) : -1);
}

bool Poller::announce(int timeout_ms) noexcept {
  std::array<epoll_event, 64> room;
  const int count = ::epoll_wait(epoll_, room.data(), static_cast<int>(room.size()), timeout_ms);
  // A signal may end the wait; callers check their condition again.
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = room[static_cast<std::size_t>(i)];
    static_cast<Listener*>(event.data.ptr)->changed(event.events);
  }
  return count > 0;
}

}  // namespace swizzle
