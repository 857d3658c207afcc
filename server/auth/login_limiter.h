#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/runtime.h"

namespace swizzle::server {

/// Makes guessing passwords slow: the answer to a failed login is held back, longer with each
/// recent failure for the same role from the same address. A correct password is never delayed, so
/// that nobody can lock others out. Fixed memory; thread-safe.
class LoginLimiter {
 public:
  /// Notes a failed login and says how long to hold the answer back.
  Duration note_failure(std::string_view role, std::string_view address, TimePoint now);

  static constexpr Duration kFirstDelay = std::chrono::milliseconds{100};
  static constexpr Duration kLongestDelay = std::chrono::seconds{3};
  /// One failure is forgotten after each such time.
  static constexpr Duration kForgetEach = std::chrono::seconds{10};

 private:
  struct Entry {
    std::uint32_t failures = 0;
    TimePoint last{};
  };
  // Colliding keys share an entry: that delays a failed login more than it deserves, no other.
  std::array<Entry, 1024> entries_;
  std::mutex mutex_;
};

}  // namespace swizzle::server
