#include "sql-lite-frontend/execution/write/row_events.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Events are read in their order, forgotten ones are not, in memory or in a file",
          "[sql][spill]") {
  for_seeds(30, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    const auto files = TemporaryFiles::open(disk, "/temporary").value();
    Random random{seed};
    WorkMemory memory;
    memory.files = random.one_in(4) ? nullptr : files.get();
    memory.work_bytes = random.one_in(2) ? 1000 : 100'000;
    {
      RowEvents events;
      std::vector<std::vector<std::int64_t>> expected;
      struct Point {
        RowEvents::Mark mark;
        std::size_t size;
      };
      std::vector<Point> points;
      const auto check = [&](const Point& from) {
        RowEvents::Reader reader{events, from.mark};
        for (std::size_t i = from.size; i < expected.size(); ++i) {
          REQUIRE(reader.next());
          REQUIRE(reader.what() == expected[i].front());
          REQUIRE(reader.values().size() == expected[i].size() - 1);
          for (std::size_t j = 1; j < expected[i].size(); ++j) {
            REQUIRE(reader.values()[j - 1].as_int8() == expected[i][j]);
          }
        }
        REQUIRE_FALSE(reader.next());
      };
      for (int step = 0; step < 400; ++step) {
        if (random.one_in(40)) points.push_back({events.mark(), expected.size()});
        if (random.one_in(60) && !points.empty()) {
          const std::size_t to = random.below(points.size());
          events.cut(points[to].mark);
          expected.resize(points[to].size);
          points.resize(to + 1);
        }
        if (random.one_in(50))
          check(points.empty() ? Point{} : points[random.below(points.size())]);
        if (random.one_in(200)) {
          events.clear();
          expected.clear();
          points.clear();
        }
        for (std::uint64_t more = random.below(60); more > 0; --more) {
          std::vector<std::int64_t> event{step};
          std::vector<Value> values;
          for (std::uint64_t i = random.below(3); i > 0; --i) {
            event.push_back(static_cast<std::int64_t>(random.below(1000)));
            values.push_back(Value::from_int(event.back()));
          }
          events.add(memory, step, values);
          expected.push_back(std::move(event));
        }
        REQUIRE(events.size() == expected.size());
        if (memory.files != nullptr) REQUIRE(memory.used_bytes() < 300'000);
      }
      check({});
      events.clear();
      CHECK(memory.used_bytes() <= kKeptByStep);
    }
    CHECK(memory.used_bytes() == 0);
  });
}
