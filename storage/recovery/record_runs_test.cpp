#include "storage/recovery/record_runs.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/btree/records.h"
#include "storage/testing/database_home.h"
#include "wal/log.h"

using namespace swizzle;
using test::kHome;

namespace {

struct Made {
  Lsn lsn = Lsn::none;
  std::string payload;
  bool is_image = false;
};
using Records = std::map<PageId, std::vector<Made>>;

wal::LogOptions log_options() {
  wal::LogOptions options;
  options.directory = kHome / "log";
  options.database_id = 7;
  options.segment_bytes = std::uint64_t{64} << 10U;
  options.buffer_bytes = std::size_t{64} << 10U;
  return options;
}

/// Appends records of random pages; some have two.
Records append(wal::Log& log, Random& random, int count) {
  Records made;
  for (int i = 0; i < count; ++i) {
    wal::RecordHeader header;
    const bool is_image = random.one_in(20);
    header.kind =
        static_cast<wal::RecordKind>(is_image ? RecordKind::page_image : RecordKind::leaf_insert);
    header.page = PageId{random.between(1, 60)};
    const std::string payload(random.below(300), static_cast<char>('a' + random.below(26)));
    auto space = log.reserve(payload.size()).value();
    const Lsn lsn = log.append(space, header, as_bytes(payload)).lsn;
    made[header.page].push_back({lsn, payload, is_image});
  }
  log.flush_to(log.tail());
  return made;
}

/// Of the page's records from `since` on: those that the runs must have.
std::vector<Made> expected(const std::vector<Made>& all, Lsn since) {
  std::vector<Made> wanted;
  for (const Made& record : all) {
    if (record.lsn < since) continue;
    if (record.is_image) wanted.clear();
    wanted.push_back(record);
  }
  return wanted;
}

}  // namespace

TEST_CASE("runs have the records of each page in their order, however many runs there are",
          "[redo]") {
  for_seeds(6, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      REQUIRE(disk.create_directory(kHome));
      REQUIRE(disk.create_directory(kHome / "log"));
      const auto log = wal::Log::create(disk, log_options()).value();
      Random random{seed};
      const Lsn from = log->tail();
      const Records made = append(*log, random, 2000);
      const Lsn end = log->tail();
      append(*log, random, 100);
      const std::uint64_t memory =
          seed % 2 == 0 ? std::uint64_t{20} << 10U : std::uint64_t{1} << 30U;
      const auto runs = RecordRuns::make(disk, kHome, log->reader(), from, end, memory, [] {
                          return true;
                        }).value();
      CHECK((runs->count() > 10) == (seed % 2 == 0));
      for (std::uint64_t page = 1; page < 70; ++page) {
        const auto all = made.contains(PageId{page}) ? made.at(PageId{page}) : std::vector<Made>{};
        const Lsn since =
            all.empty() || random.one_in(3) ? from : all[random.below(all.size())].lsn;
        const std::vector<Made> wanted = expected(all, since);
        const PageRecords found = runs->read(PageId{page}, since).value();
        REQUIRE(found.count() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          REQUIRE(found.at(i).lsn == wanted[i].lsn);
          REQUIRE(as_text(found.at(i).payload) == wanted[i].payload);
        }
      }
      REQUIRE(RecordRuns::remove(disk, kHome));
      CHECK_FALSE(disk.exists(kHome / RecordRuns::kDirectoryName).value());
      log->close();
    });
  });
}
