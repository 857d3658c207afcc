// Waits of statements end when these are asked to end: by a cancel, a timeout, or the end of the
// session.
#include <chrono>
#include <optional>
#include <stdexcept>

#include "storage/engine_tests/crowded_database.h"

namespace swizzle {

using namespace test;
using std::chrono::seconds;

namespace {

/// Asks the work to end one second after its construction.
class OneSecond final : public Overseer {
 public:
  void look() override {
    if (Runtime::current().now() > asked_at_) throw std::runtime_error{"end"};
  }

 private:
  TimePoint asked_at_ = Runtime::current().now() + seconds{1};
};

/// Returns a fault that delays each write of such files by ten minutes.
DiskFault slow_in(const std::string& file) {
  return {.operation = DiskOperation::write,
          .effect = DiskFault::Effect::delay,
          .times = UINT64_MAX,
          .path_contains = file,
          .delay = std::chrono::minutes{10}};
}

}  // namespace

TEST_CASE("R2 a statement that waits for a checkpoint ends when it is asked to",
          "[storage][waits]") {
  SimulatedDisk disk{11};
  create_crowded(disk);
  Simulation simulation{bounded(11)};
  simulation.run([&] {
    CrowdedDatabase database(disk);
    database.make_tree(700);
    REQUIRE(database.engine->checkpoint());
    const std::uint64_t before = database.engine->statistics().checkpoints;
    disk.inject(slow_in("control-"));
    const TimePoint begin = Runtime::current().now();
    Result<> first;
    const auto other = Runtime::current().spawn("other", [&] {
      OneSecond impatience;
      const OversightScope scope{impatience};
      first = database.engine->checkpoint();
    });
    {
      OneSecond impatience;
      const OversightScope scope{impatience};
      const auto ended = database.engine->checkpoint();
      REQUIRE_FALSE(ended);
      CHECK(ended.error().state() == sqlstate::query_canceled);
    }
    other->join();
    REQUIRE_FALSE(first);
    CHECK(first.error().state() == sqlstate::query_canceled);
    CHECK(Runtime::current().now() - begin < seconds{3});
    // The page is taken all the same, and so is the next one.
    disk.clear_faults();
    CHECK(database.engine->checkpoint());
    CHECK(database.engine->statistics().checkpoints >= before + 2);
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("F a statement that waits for a page of the pool ends when it is asked to",
          "[storage][waits]") {
  SimulatedDisk disk{12};
  const EngineOptions options = few_pages(128);
  REQUIRE(Engine::create(disk, kHome, options));
  Simulation simulation{bounded(12)};
  simulation.run([&] {
    CrowdedDatabase database(disk, options);
    database.make_tree(700);
    // No dirty page can be written, so none can be evicted.
    disk.inject(slow_in("doublewrite"));
    const auto writer = database.engine->begin();
    std::optional<Error> why;
    TimePoint asked{};
    for (int row = 0; row < 100'000 && !why; ++row) {
      OneSecond impatience;
      asked = Runtime::current().now();
      const OversightScope scope{impatience};
      const std::string key = "more " + std::to_string(100'000 + row);
      auto inserted = database.in().insert(*writer, as_bytes(key), as_bytes(std::string(700, 'm')));
      if (!inserted) why = std::move(inserted).error();
    }
    REQUIRE(why);
    CHECK(why->state() == sqlstate::query_canceled);
    CHECK(Runtime::current().now() - asked < seconds{3});
    disk.clear_faults();
    writer->rollback();
    CHECK(database.found() == database.content);
    REQUIRE(database.engine->close());
  });
}

}  // namespace swizzle
