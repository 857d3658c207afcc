#include "server/auth/login_limiter.h"

#include <algorithm>
#include <functional>

namespace swizzle::server {

Duration LoginLimiter::note_failure(std::string_view role, std::string_view address,
                                    TimePoint now) {
  const std::hash<std::string_view> hash;
  const std::size_t slot = (hash(role) * 31 + hash(address)) % entries_.size();
  const std::scoped_lock lock{mutex_};
  Entry& entry = entries_[slot];
  const auto forgotten = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>((now - entry.last) / kForgetEach, 0, 1'000));
  entry.failures -= std::min(entry.failures, forgotten);
  entry.last = now;
  ++entry.failures;
  const std::uint32_t doublings = std::min(entry.failures - 1, 6U);
  return std::min(kFirstDelay * (1U << doublings), kLongestDelay);
}

}  // namespace swizzle::server
