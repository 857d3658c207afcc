#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/runtime/asked_to_end.h"
#include "wal/internal/log_budget.h"
#include "wal/internal/rollback_room.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace std::chrono_literals;

namespace {

/// Asks the work to end from ask() on, as a cancel or statement_timeout does.
class Impatience final : public Overseer {
 public:
  void look() override {
    if (is_asked_) throw std::runtime_error{"end"};
  }
  void ask() { is_asked_ = true; }

 private:
  std::atomic<bool> is_asked_{false};
};

constexpr std::size_t kRing = std::size_t{1} << 20U;

/// A log with room in the ring but none in segments, which nothing frees.
struct NoRoom {
  RollbackRoom rollbacks{{.want_files = [] {}, .is_held = [] { return false; }}};
  LogBudget budget{
      kRing, 0, rollbacks, {.want_ring = [] {}, .want_segments = [](std::uint64_t) {}}};
  NoRoom() { budget.start_at(0, 0, 4096); }
};

/// Runs `wait` on a thread that is asked to end after 30 ms. Returns the SQLSTATE of its outcome.
std::string end_of(const std::function<Result<>()>& wait) {
  std::string state;
  Impatience impatience;
  std::thread waiter([&] {
    const OversightScope scope{impatience};
    const auto outcome = wait();
    state = outcome ? "none" : std::string{outcome.error().state().code()};
  });
  std::this_thread::sleep_for(30ms);
  impatience.ask();
  waiter.join();
  return state;
}

}  // namespace

TEST_CASE("a wait for room in the log ends when its caller is asked to end", "[log][waits]") {
  NoRoom log;
  const auto take = [&](std::size_t bytes) {
    return [&log, bytes]() -> Result<> {
      RETURN_IF_ERROR(log.budget.take(bytes, ReservePurpose::growth));
      return {};
    };
  };
  CHECK(end_of(take(100'000)) == "57014");
  // It has left the queue: a request that fits does not wait behind it.
  CHECK(log.budget.take(100, ReservePurpose::growth));
  // A request that waits behind one that leaves then gets its room.
  std::atomic<bool> is_granted{false};
  std::thread behind;
  CHECK(end_of([&]() -> Result<> {
          behind = std::thread([&] {
            std::this_thread::sleep_for(10ms);
            is_granted = log.budget.take(100, ReservePurpose::growth).has_value();
          });
          return take(100'000)();
        }) == "57014");
  behind.join();
  CHECK(is_granted);
}

TEST_CASE("a completion waits for room in the log whatever is asked", "[log][waits]") {
  NoRoom log;
  std::atomic<bool> has_room{false};
  std::thread maker([&] {
    std::this_thread::sleep_for(100ms);
    has_room = true;
    log.budget.set_segments_end(std::uint64_t{1} << 20U);
  });
  CHECK(end_of([&]() -> Result<> {
          RETURN_IF_ERROR(log.budget.take(100'000, ReservePurpose::completion));
          CHECK(has_room);
          return {};
        }) == "none");
  maker.join();
}

TEST_CASE("a wait for room for rollbacks ends when its caller is asked to end", "[log][waits]") {
  NoRoom log;
  CHECK(end_of([&] { return log.rollbacks.owe(100'000); }) == "57014");
  CHECK(log.rollbacks.owed() == 0);
}

TEST_CASE("what must come to its end has no overseer", "[log][waits]") {
  Impatience impatience;
  impatience.ask();
  const OversightScope scope{impatience};
  CHECK(is_asked_to_end());
  {
    const UnendedScope to_its_end;
    CHECK_FALSE(is_asked_to_end());
  }
  CHECK(is_asked_to_end());
}
