#include "sql-lite-frontend/execution/rows/row_file.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Readers of a file that grows find its rows anywhere, written yet or not",
          "[sql][spill]") {
  for_seeds(20, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    const auto files = TemporaryFiles::open(disk, "/temporary").value();
    RowFile file{*files};
    RowFile::Reader in_order{file};
    RowFile::Reader anywhere{file};
    Random random{seed};
    std::vector<std::string> texts;
    std::vector<std::uint64_t> places;
    std::size_t next = 0;
    Value row[2];
    const auto check = [&](std::size_t expected) {
      REQUIRE(row[0].as_int8() == static_cast<std::int64_t>(expected));
      REQUIRE(row[1].as_text() == texts[expected]);
    };
    for (int i = 0; i < 2000; ++i) {
      switch (random.below(3)) {
        case 0:
          texts.emplace_back(random.below(random.one_in(50) ? 40'000 : 200), 'x');
          places.push_back(
              file.append(std::vector{Value::from_int(static_cast<std::int64_t>(texts.size() - 1)),
                                      Value::from_bytes(as_bytes(texts.back()))}));
          break;
        case 1:
          if (in_order.next(row))
            check(next++);
          else
            REQUIRE(next == texts.size());
          break;
        default:
          if (texts.empty()) break;
          const std::size_t wanted =
              random.one_in(3) ? texts.size() - 1 : random.below(texts.size());
          anywhere.seek(places[wanted]);
          REQUIRE(anywhere.next(row));
          check(wanted);
          // Then continues from there.
          REQUIRE(anywhere.next(row) == (wanted + 1 < texts.size()));
          if (wanted + 1 < texts.size()) check(wanted + 1);
      }
    }
    CHECK(file.rows() == texts.size());
  });
}
