#include "server/auth/login_limiter.h"

#include <catch2/catch.hpp>

namespace swizzle::server {
namespace {

using namespace std::chrono_literals;

/// A limiter with a clock. Guessers try again as soon as they may.
class Guessing {
 public:
  LoginLimiter limiter;
  TimePoint now{1h};

  Duration wait_of(std::string_view role, std::string_view origin) {
    return limiter.ask({role, origin}, now);
  }
  /// Guesses a wrong password. Returns true if the guess is judged now.
  bool guess(std::string_view role, std::string_view origin) {
    if (limiter.ask({role, origin}, now) > Duration::zero()) return false;
    limiter.note_failure({role, origin}, now);
    return true;
  }
  /// Returns the number of wrong passwords judged while many guessers try all the time.
  int guesses_in(Duration time, const std::vector<std::string>& roles,
                 const std::vector<std::string>& origins) {
    int judged = 0;
    for (const TimePoint end = now + time; now < end; now += 10ms) {
      for (const std::string& role : roles) {
        for (const std::string& origin : origins) judged += guess(role, origin) ? 1 : 0;
      }
    }
    return judged;
  }
};

TEST_CASE("each wrong password makes the next one wait longer, up to a limit, and is forgotten") {
  Guessing some;
  for (const Duration expected : {100ms, 200ms, 400ms, 800ms, 1600ms, 3000ms, 3000ms}) {
    CHECK(some.guess("r", "a"));
    CHECK(some.wait_of("r", "a") == expected);
    CHECK(some.wait_of("other", "a") == Duration::zero());
    CHECK(some.wait_of("r", "b") == Duration::zero());
    some.now += expected - 1ms;
    CHECK(some.wait_of("r", "a") == 1ms);
    some.now += 1ms;
  }
  some.now += 1h;
  CHECK(some.guess("r", "a"));
  CHECK(some.wait_of("r", "a") == 100ms);
}

TEST_CASE("a turn is one password's, and a right one gives it back") {
  Guessing some;
  CHECK(some.guess("r", "a"));
  some.now += 100ms;
  CHECK(some.wait_of("r", "a") == Duration::zero());
  CHECK(some.wait_of("r", "a") > Duration::zero());
  some.limiter.note_success({"r", "a"}, some.now);
  CHECK(some.wait_of("r", "a") == Duration::zero());
}

TEST_CASE("who guesses gets a guess in three seconds, however many connections it has") {
  Guessing some;
  CHECK(some.guesses_in(10min, {"r"}, {"a"}) <= 6 + 600 / 3);
  // At many roles: a few a second for all together, after the first for each.
  std::vector<std::string> roles;
  for (int i = 0; i < 200; ++i) roles.push_back("r" + std::to_string(i));
  CHECK(some.guesses_in(1min, roles, {"b"}) <= 200 + 30 + 60);
}

TEST_CASE("one who guesses keeps out nobody who is somewhere or somebody else") {
  Guessing some;
  some.guesses_in(10min, {"r"}, {"a"});
  CHECK(some.wait_of("r", "b") == Duration::zero());
  CHECK(some.wait_of("s", "a") == Duration::zero());
  CHECK(some.wait_of("r", "") == Duration::zero());
}

TEST_CASE("where thousands guess at one role, it gets in from where it has logged in before") {
  Guessing some;
  some.limiter.note_success({"r", "home"}, some.now);
  std::vector<std::string> origins;
  for (int i = 0; i < 2000; ++i) origins.push_back(std::to_string(i));
  CHECK(some.guesses_in(1min, {"r"}, origins) <= 20 + 10 + 60 * 5 + 1);
  CHECK(some.wait_of("r", "home") == Duration::zero());
  CHECK(some.wait_of("r", "elsewhere") <= 200ms);
  CHECK(some.wait_of("s", "17") == Duration::zero());
}

TEST_CASE("made-up roles push nobody out of memory who has failed more often") {
  Guessing some;
  for (int i = 0; i < 7; ++i) {
    some.guess("r", "a");
    some.now += 3s;
  }
  CHECK(some.guess("r", "a"));
  // Far more than fit into the table.
  for (int i = 0; i < 100'000; ++i) some.guess("made up " + std::to_string(i), "a");
  CHECK(some.wait_of("r", "a") > 2s);
}

TEST_CASE("an origin is an IPv4 address, an IPv6 network or a user of this machine") {
  CHECK(login_origin(IpAddress::parse("10.1.2.3"), {}) == "10.1.2.3");
  CHECK(login_origin(IpAddress::parse("::ffff:10.1.2.3"), {}) == "10.1.2.3");
  CHECK(login_origin(IpAddress::parse("2001:db8:1:2:3:4:5:6"), {}) == "2001:db8:1:2::");
  CHECK(login_origin({}, 7) == "user 7");
}

}  // namespace
}  // namespace swizzle::server
