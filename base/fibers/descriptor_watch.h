#pragma once

#include <optional>

#include "base/fibers/poller.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// Lets one fiber wait until a non-blocking descriptor can be read or written.
/// Changes are announced once: wait for readability only when a read has found nothing, or less
/// than it had room for, and for writability only when a write has been refused.
class DescriptorWatch final : private Poller::Listener {
 public:
  enum class Direction : std::uint8_t { reading, writing };

  /// Pre: in a fiber of a FiberRuntime, which alone uses it; `descriptor` outlives it.
  explicit DescriptorWatch(int descriptor);
  /// On the same reactor.
  ~DescriptorWatch() override;

  /// Waits until the descriptor is ready. Returns false when `deadline` has passed. True may be
  /// wrong, so callers try and wait again; an unpark() of the fiber ends the wait too.
  bool wait(Direction direction, std::optional<TimePoint> deadline) noexcept;

 private:
  void changed(std::uint32_t events) noexcept override;
  bool park(std::optional<TimePoint> deadline) noexcept;

  Poller& poller_;
  Parker& owner_;
  int descriptor_;
  /// True while the fiber is in wait(): its other parks are for other reasons.
  bool is_waited_for_ = false;
  /// Announced, and not waited for since.
  bool is_readable_ = false;
  bool is_writable_ = false;
  /// True while the fiber waits for writability. Each read of the peer makes the socket writable
  /// again, which must not wake a fiber that does not wait for it.
  bool hears_of_room_ = false;
};

}  // namespace swizzle
