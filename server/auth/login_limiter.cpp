#include "server/auth/login_limiter.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/auth/crypto.h"

namespace swizzle::server {
namespace {

constexpr std::size_t kSuccesses = 4096;

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  fill_random(std::as_writable_bytes(std::span{&seed, 1}));
  return seed;
}

}  // namespace

std::string login_origin(const std::optional<IpAddress>& address,
                         std::optional<std::uint32_t> user) {
  if (address) return address->bits() == 32 ? address->text() : address->network(64).text();
  return user ? fmt::format("user {}", *user) : std::string{};
}

LoginLimiter::LoginLimiter()
    : pairs_(kSameRoleAndOrigin, random_seed()),
      origins_(kSameOrigin, random_seed()),
      roles_(kSameRole, random_seed()),
      successes_(kSuccesses) {}

bool LoginLimiter::is_known(std::uint64_t pair, TimePoint now) const {
  const Success& success = successes_[pair % kSuccesses];
  return success.pair == pair && now - success.last < kKnownFor;
}

Duration LoginLimiter::ask(const LoginAttempt& attempt, TimePoint now) {
  const std::uint64_t pair = pairs_.key_of(attempt.role, attempt.origin);
  const std::uint64_t origin = origins_.key_of(attempt.origin);
  const std::uint64_t role = roles_.key_of(attempt.role);
  const std::scoped_lock lock{mutex_};
  Duration wait = pairs_.wait_for(pair, now);
  const bool counts_for_origin = pairs_.has_failed(pair, now);
  const bool counts_for_role = !is_known(pair, now);
  if (counts_for_origin) wait = std::max(wait, origins_.wait_for(origin, now));
  if (counts_for_role) wait = std::max(wait, roles_.wait_for(role, now));
  if (wait > Duration::zero()) return wait;
  // Take the turn now: a concurrent attempt must not get the same one.
  pairs_.note_attempt(pair, now);
  if (counts_for_origin) origins_.note_attempt(origin, now);
  if (counts_for_role) roles_.note_attempt(role, now);
  return Duration::zero();
}

void LoginLimiter::note_failure(const LoginAttempt& attempt, TimePoint now) {
  const std::scoped_lock lock{mutex_};
  pairs_.note_failure(pairs_.key_of(attempt.role, attempt.origin), now);
  origins_.note_failure(origins_.key_of(attempt.origin), now);
  roles_.note_failure(roles_.key_of(attempt.role), now);
}

void LoginLimiter::note_success(const LoginAttempt& attempt, TimePoint now) {
  const std::uint64_t pair = pairs_.key_of(attempt.role, attempt.origin);
  const std::scoped_lock lock{mutex_};
  successes_[pair % kSuccesses] = {pair, now};
  pairs_.forget_attempt(pair, now);
  origins_.forget_attempt(origins_.key_of(attempt.origin), now);
  roles_.forget_attempt(roles_.key_of(attempt.role), now);
}

}  // namespace swizzle::server
