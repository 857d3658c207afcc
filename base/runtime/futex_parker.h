#pragma once

#include <atomic>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle {

/// A parker for an operating system thread. unpark() touches the parker once; the system call after
/// that takes only its address.
class FutexParker final : public Parker {
 public:
  void park() noexcept override;
  bool park_until(TimePoint deadline) noexcept override;
  void unpark() noexcept override;

 private:
  enum State : std::uint32_t { idle, notified, parked };

  [[nodiscard]] bool take_notification() noexcept;

  std::atomic<std::uint32_t> state_{idle};
};

/// Returns the calling thread's parker.
FutexParker& parker_of_this_thread() noexcept;

}  // namespace swizzle
