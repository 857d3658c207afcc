#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime/runtime.h"
#include "server/auth/hba.h"

namespace swizzle::server {

/// The role and the origin of a login attempt.
struct LoginAttempt {
  std::string_view role;
  std::string_view origin;  ///< login_origin's
};

/// Returns the origin whose guesses count together: an IPv4 address, an IPv6 network of 64 bits,
/// since one host has as many addresses in it as it likes, or this machine's user.
[[nodiscard]] std::string login_origin(const std::optional<IpAddress>& address,
                                       std::optional<std::uint32_t> user);

/// Waits that failures with the same key cost.
struct FailurePace {
  std::uint32_t free;    ///< number of failures without a wait
  Duration first;        ///< wait after the next one; doubled with each further one
  Duration longest;      ///< at most
  Duration forget_each;  ///< one failure is forgotten after each such time
};

/// Failures by key, in fixed memory: if it is full, the key with the fewest failures is forgotten,
/// of several the one that failed longest ago.
class FailureTable {
 public:
  FailureTable(FailurePace pace, std::uint64_t seed);

  [[nodiscard]] std::uint64_t key_of(std::string_view one, std::string_view two = {}) const;
  /// Returns how long attempts with `key` have to wait for their turn; zero: not at all.
  [[nodiscard]] Duration wait_for(std::uint64_t key, TimePoint now) const;
  /// True if it failed within kRemembered, and has not been evicted.
  [[nodiscard]] bool has_failed(std::uint64_t key, TimePoint now) const;
  /// Takes a turn: the next one comes only after this one has had time to fail.
  void note_attempt(std::uint64_t key, TimePoint now);
  void forget_attempt(std::uint64_t key, TimePoint now);
  void note_failure(std::uint64_t key, TimePoint now);
  static constexpr Duration kRemembered = std::chrono::hours{1};

 private:
  static constexpr std::size_t kWays = 4;
  struct Record {
    std::uint64_t key = 0;
    std::uint32_t failures = 0;
    TimePoint last{};
    TimePoint next{};
  };
  using Set = std::array<Record, kWays>;

  [[nodiscard]] const Record* find(std::uint64_t key) const;
  [[nodiscard]] Record* find(std::uint64_t key);
  [[nodiscard]] std::uint32_t remembered(const Record& record, TimePoint now) const;
  [[nodiscard]] Duration cost_of(std::uint32_t failures) const;

  FailurePace pace_;
  std::uint64_t seed_;
  std::vector<Set> sets_;
};

/// Slows down password guessing, also by clients that do not wait for the answer. A password is
/// checked only in its turn, and turns come the slower the more passwords were wrong for the same
/// role from the same origin. Failures do not slow other roles, nor the role from other origins
/// without failures, with one exception: when very many origins guess at one role, origins from
/// which the role has not logged in lately share its turns. Fixed memory; thread-safe.
class LoginLimiter {
 public:
  LoginLimiter();

  /// Returns zero if the password may be checked now; note_failure or note_success must follow.
  /// Otherwise returns how long to wait before asking again.
  Duration ask(const LoginAttempt& attempt, TimePoint now);
  void note_failure(const LoginAttempt& attempt, TimePoint now);
  void note_success(const LoginAttempt& attempt, TimePoint now);

  static constexpr FailurePace kSameRoleAndOrigin{
      0, std::chrono::milliseconds{100}, std::chrono::seconds{3}, std::chrono::seconds{10}};
  /// For roles that have failed from this origin.
  static constexpr FailurePace kSameOrigin{10, std::chrono::milliseconds{100},
                                           std::chrono::seconds{1}, std::chrono::seconds{1}};
  /// More than one origin's guesses, which come once in 3 s, can ever reach.
  static constexpr FailurePace kSameRole{20, std::chrono::milliseconds{25},
                                         std::chrono::milliseconds{200},
                                         std::chrono::milliseconds{200}};
  /// How long a successful login of a role from an origin is remembered.
  static constexpr Duration kKnownFor = std::chrono::hours{24 * 7};

 private:
  [[nodiscard]] bool is_known(std::uint64_t pair, TimePoint now) const;

  std::mutex mutex_;
  FailureTable pairs_;
  FailureTable origins_;
  FailureTable roles_;
  /// Last login of a role from an origin. Failed logins leave no entry.
  struct Success {
    std::uint64_t pair = 0;
    TimePoint last{};
  };
  std::vector<Success> successes_;
};

}  // namespace swizzle::server
