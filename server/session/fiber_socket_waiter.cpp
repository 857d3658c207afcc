#include "server/session/fiber_socket_waiter.h"

#include <boost/asio/io_context.hpp>
#include <new>

namespace swizzle::server {

/// Gives out the memory inside a Watch; falls back to the heap if asio wants more than that.
template <class T>
struct FiberSocketWaiter::WatchAllocator {
  using value_type = T;
  Watch* watch;

  explicit WatchAllocator(Watch* of) noexcept : watch(of) {}
  template <class U>
  WatchAllocator(const WatchAllocator<U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : watch(other.watch) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (!watch->memory_in_use && bytes <= watch->memory.size()) {
      watch->memory_in_use = true;
      return static_cast<T*>(static_cast<void*>(watch->memory.data()));
    }
    return static_cast<T*>(::operator new(bytes));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    if (static_cast<void*>(memory) == watch->memory.data()) {
      watch->memory_in_use = false;
    } else {
      ::operator delete(memory);
    }
  }
  friend bool operator==(const WatchAllocator& a, const WatchAllocator& b) noexcept {
    return a.watch == b.watch;
  }
};

/// Runs on the reactor, outside of any fiber.
struct FiberSocketWaiter::Notify {
  using allocator_type = WatchAllocator<std::byte>;
  Watch* watch;
  Parker* owner;

  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type{watch}; }
  void operator()(const boost::system::error_code&) const noexcept {
    watch->is_armed = false;
    owner->unpark();
  }
};

FiberSocketWaiter::FiberSocketWaiter(FiberRuntime& runtime, int socket)
    : runtime_(runtime),
      owner_(runtime.parker()),
      descriptor_(runtime.io_context(runtime.this_reactor()), socket) {}

FiberSocketWaiter::~FiberSocketWaiter() {
  INVARIANT(!descriptor_.is_open());
}

void FiberSocketWaiter::arm(Watch& watch, boost::asio::posix::stream_descriptor::wait_type type) {
  if (watch.is_armed) return;
  watch.is_armed = true;
  descriptor_.async_wait(type, Notify{&watch, &owner_});
}

bool FiberSocketWaiter::wait(Readiness readiness, std::optional<TimePoint> deadline) noexcept {
  using Descriptor = boost::asio::posix::stream_descriptor;
  const bool is_read = readiness == Readiness::readable;
  Watch& watch = is_read ? reading_ : writing_;
  arm(watch, is_read ? Descriptor::wait_read : Descriptor::wait_write);
  if (!deadline) {
    owner_.park();
    return true;
  }
  return owner_.park_until(*deadline);
}

void FiberSocketWaiter::settle() noexcept {
  runtime_.release_unused_stack();
}

void FiberSocketWaiter::close() noexcept {
  if (!descriptor_.is_open()) return;
  boost::system::error_code ignored;
  descriptor_.cancel(ignored);
  while (reading_.is_armed || writing_.is_armed) owner_.park();
  descriptor_.release();
}

}  // namespace swizzle::server
