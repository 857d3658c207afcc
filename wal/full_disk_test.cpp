// The disk is full, or fails while segments are prepared: requests for more get an error, work in
// progress is finished, and nothing is lost.
#include <spdlog/spdlog.h>

#include <optional>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "wal/internal/shortage.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;
using namespace std::chrono_literals;

namespace {

const std::filesystem::path kSmallDisk = "/log";

// Suppresses log messages about failures that a test causes on purpose.
struct Silence {
  Silence() { spdlog::set_level(spdlog::level::off); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { spdlog::set_level(spdlog::level::info); }
};

/// A log on a disk with room for a few segments, most of which are kept.
struct CrowdedLog {
  explicit CrowdedLog(Duration patience) {
    REQUIRE(disk.create_directory(kSmallDisk));
    options.release_patience = patience;
    log = Log::create(disk, options).value();
    disk.leave_room(6 * options.segment_bytes);
  }
  /// Appends up to the first refusal or to 60 segments; returns the number of bytes.
  std::uint64_t write() {
    std::uint64_t written = 0;
    while (written < 60 * options.segment_bytes) {
      const std::string payload(random.one_in(50) ? 12'000 : 400, 'p');
      auto space = log->reserve(payload.size());
      if (!space) {
        REQUIRE(space.error().state() == sqlstate::disk_full);
        break;
      }
      log->append(*space, {.kind = kUpdate}, as_bytes(payload));
      written += payload.size();
      // Sometimes reserve rollback space, for which room must be searched as well.
      if (!random.one_in(100)) continue;
      REQUIRE(log->reserve_rollback_space(options.segment_bytes));
      log->release_rollback_space(options.segment_bytes);
    }
    return written;
  }

  SimulatedDisk disk{11};
  Random random{11};
  LogOptions options = crash_options(kSmallDisk);
  std::unique_ptr<Log> log;
};

}  // namespace

TEST_CASE("who is short of room is refused when what could be let go has been", "[log]") {
  const TimePoint begin{1h};
  Shortage shortage{10s};
  shortage.look();
  REQUIRE(shortage.note(begin) == begin + 10s);
  REQUIRE(shortage.is_asked());
  // An answer that comes while the keeper looks may have freed room meanwhile.
  shortage.look();
  shortage.answer();
  REQUIRE_FALSE(shortage.is_asked());
  REQUIRE(shortage.note(begin + 1s) == begin + 1s);
  shortage.look();
  REQUIRE_FALSE(shortage.note(begin + 1s));
  // Asked again from time to time; writers wait only for the first patience.
  shortage.look();
  REQUIRE_FALSE(shortage.note(begin + 12s));
  REQUIRE(shortage.is_asked());
  shortage.is_over();
  REQUIRE_FALSE(shortage.is_asked());
  shortage.answer();
  shortage.look();
  REQUIRE(shortage.note(begin + 20s) == begin + 30s);
  Shortage nobody_is_asked{Duration::zero()};
  REQUIRE_FALSE(nobody_is_asked.note(begin));
  REQUIRE_FALSE(nobody_is_asked.is_asked());
}

TEST_CASE("segments that wait to be used again are room for rollbacks", "[log][crash]") {
  const Silence silence;
  Simulation{14}.run([&] {
    CrowdedLog crowded(0s);
    crowded.options.spare_segments = 8;
    crowded.log.reset();
    crowded.log =
        Log::open(crowded.disk, crowded.options, Log::origin(crowded.options.segment_bytes))
            .value();
    crowded.log->recovered();
    Random random{14};
    while (raw(crowded.log->tail()) < 5 * crowded.options.segment_bytes)
      append_random(*crowded.log, random, 400);
    crowded.log->flush_to(crowded.log->tail());
    crowded.disk.leave_room(0);
    crowded.log->keep_from(crowded.log->durable());
    // More than the prepared segments have.
    REQUIRE(crowded.log->reserve_rollback_space(5 * crowded.options.segment_bytes));
    crowded.log->release_rollback_space(5 * crowded.options.segment_bytes);
    crowded.log->close();
  });
}

TEST_CASE("a full disk refuses growth, leaves room for completion, and is over when there is space",
          "[log][crash]") {
  const Silence silence;
  SimulatedDisk disk{5};
  REQUIRE(disk.create_directory(kSmallDisk));
  Simulation simulation{5};
  simulation.run([&] {
    LogOptions options = crash_options(kSmallDisk);
    auto log = Log::create(disk, options).value();
    disk.limit_capacity(std::uint64_t{300} << 10U);
    Random random{5};
    std::vector<Written> written;
    std::optional<Error> refused;
    while (!refused) {
      const std::string payload = random_payload(random, 400);
      auto space = log->reserve(payload.size());
      if (!space) {
        refused.emplace(std::move(space).error());
        break;
      }
      const RecordHeader header{.kind = kUpdate};
      const auto [lsn, end] = log->append(*space, header, as_bytes(payload));
      written.push_back({lsn, end, header, payload});
    }
    REQUIRE(refused->state() == sqlstate::disk_full);
    // Completions still succeed, and readers read.
    for (int i = 0; i < 10; ++i) {
      auto space = log->reserve(100, 1, ReservePurpose::completion);
      REQUIRE(space);
      const RecordHeader header{.kind = RecordKind{18}};
      const auto [lsn, end] = log->append(*space, header, as_bytes("rolled back"));
      written.push_back({lsn, end, header, "rolled back"});
    }
    log->flush_to(written.back().end);
    REQUIRE(same(read_forward(log->reader(), log->begin()), written));
    REQUIRE(log->reserve(400).error().state() == sqlstate::disk_full);

    // More than was reserved for them: they wait instead of failing.
    int finished = 0;
    auto rollbacks = Runtime::current().spawn("rollbacks", [&] {
      for (; finished < 500; ++finished) {
        auto space = log->reserve(200, 1, ReservePurpose::completion);
        REQUIRE(space);
        const RecordHeader header{.kind = RecordKind{18}};
        const auto [lsn, end] = log->append(*space, header, as_bytes("undone"));
        written.push_back({lsn, end, header, "undone"});
        space = Reservation{};
        log->flush_to(end);
      }
    });
    Runtime::current().sleep_until(Runtime::current().now() + 10s);
    REQUIRE(finished < 500);
    REQUIRE(log->reserve(400).error().state() == sqlstate::disk_full);

    disk.limit_capacity(UINT64_MAX);
    rollbacks->join();
    for (int i = 0; i < 500; ++i) written.push_back(append_random(*log, random, 400));
    log->close();
    REQUIRE(same(read_forward(log->reader(), log->begin()), written));
  });
}

TEST_CASE("on a full disk growth gets nothing of what completion takes or gives back",
          "[log][crash]") {
  const Silence silence;
  SimulatedDisk disk{6};
  REQUIRE(disk.create_directory(kSmallDisk));
  Simulation{6}.run([&] {
    auto log = Log::create(disk, crash_options(kSmallDisk)).value();
    disk.limit_capacity(std::uint64_t{300} << 10U);
    const std::string payload(400, 'p');
    while (auto space = log->reserve(payload.size()))
      log->append(*space, {.kind = kUpdate}, as_bytes(payload));
    // Use up the rest of other transactions' credits.
    while (auto space = log->reserve(1)) log->append(*space, {.kind = kUpdate}, as_bytes("x"));
    for (int i = 0; i < 12; ++i) {
      {
        // Take space for the worst case, as undo does, and return most of it.
        auto space = log->reserve(600, 1, ReservePurpose::completion);
        REQUIRE(space);
        log->append(*space, {.kind = RecordKind{18}}, as_bytes("undone"));
      }
      REQUIRE(log->reserve(1).error().state() == sqlstate::disk_full);
    }
    disk.limit_capacity(UINT64_MAX);
    log->close();
  });
}

TEST_CASE("on a full disk old segments are asked for before anybody is refused", "[log][crash]") {
  const Silence silence;
  Simulation{12}.run([&] {
    CrowdedLog crowded(10s);
    bool releases = true;
    bool is_over = false;
    int asked = 0;
    auto checkpointer = Runtime::current().spawn("checkpointer", [&] {
      while (!is_over) {
        if (crowded.log->lacks_room()) {
          ++asked;
          Runtime::current().sleep_until(Runtime::current().now() + 700ms);
          if (releases) crowded.log->keep_from(crowded.log->durable());
          crowded.log->released();
        }
        Runtime::current().sleep_until(Runtime::current().now() + 100ms);
      }
    });
    REQUIRE(crowded.write() >= 60 * crowded.options.segment_bytes);
    REQUIRE(asked > 3);
    // A writer that cannot get room is refused at once.
    releases = false;
    const TimePoint begun = Runtime::current().now();
    REQUIRE(crowded.write() < 10 * crowded.options.segment_bytes);
    REQUIRE(Runtime::current().now() - begun < 2s);
    REQUIRE_FALSE(crowded.log->reserve(12'000));
    REQUIRE(Runtime::current().now() - begun < 2s);
    // The checkpointer is asked again, and writers go on.
    releases = true;
    Runtime::current().sleep_until(Runtime::current().now() + 8s);
    REQUIRE(crowded.write() >= 60 * crowded.options.segment_bytes);
    is_over = true;
    checkpointer->join();
    crowded.log->close();
  });
}

TEST_CASE("writers on a full disk do not wait for ever for old segments", "[log][crash]") {
  const Silence silence;
  Simulation{13}.run([&] {
    CrowdedLog crowded(10s);
    const TimePoint begun = Runtime::current().now();
    REQUIRE(crowded.write() < 10 * crowded.options.segment_bytes);
    REQUIRE(Runtime::current().now() - begun >= 10s);
    REQUIRE(Runtime::current().now() - begun < 11s);
    REQUIRE_FALSE(crowded.log->reserve(12'000));
    REQUIRE(Runtime::current().now() - begun < 11s);
    crowded.log->close();
  });
}

TEST_CASE("what rollbacks will log has its room, whatever else fills the disk", "[log][crash]") {
  const Silence silence;
  SimulatedDisk disk{7};
  REQUIRE(disk.create_directory(kSmallDisk));
  Simulation simulation{7};
  constexpr std::uint64_t kOwed = std::uint64_t{200} << 10U;
  const auto roll_back = [](Log& log, std::uint64_t bytes) {
    Lsn end{};
    for (std::uint64_t done = 0; done < bytes; done += 100 + kMaxRecordOverhead) {
      auto space = log.reserve(100, 1, ReservePurpose::completion);
      REQUIRE(space);
      end = log.append(*space, {.kind = RecordKind{18}}, as_bytes(std::string(100, 'u'))).end;
    }
    log.flush_to(end);
  };
  const auto fill = [](Log& log) {
    for (;;) {
      auto space = log.reserve(400);
      if (!space) return space.error().state();
      log.append(*space, {.kind = kUpdate}, as_bytes(std::string(400, 'g')));
    }
  };
  const LogOptions options = crash_options(kSmallDisk);
  simulation.run([&] {
    auto log = Log::create(disk, options).value();
    log->recovered();
    REQUIRE(log->reserve_rollback_space(kOwed));
    disk.leave_room(0);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    // More than the disk and the prepared segments have.
    REQUIRE(log->reserve_rollback_space(kOwed).error().state() == sqlstate::disk_full);
    // Roll back half of it; the rest belongs to no transaction any more.
    roll_back(*log, kOwed / 2);
    log->release_rollback_space(kOwed / 2);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    log->close();
  });
  // The next start knows that there is something to roll back, and how much at most.
  simulation.run([&] {
    auto log = Log::open(disk, options, Log::origin(options.segment_bytes)).value();
    REQUIRE(fill(*log) == sqlstate::disk_full);
    REQUIRE(log->reserve_rollback_space(kOwed));
    roll_back(*log, kOwed / 2);
    log->release_rollback_space(kOwed);
    log->recovered();
    disk.leave_room(2 * options.segment_bytes);
    Runtime::current().sleep_until(Runtime::current().now() + 2s);
    // A little has room in prepared segments.
    disk.leave_room(0);
    REQUIRE(log->reserve_rollback_space(1000));
    log->release_rollback_space(1000);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    disk.limit_capacity(UINT64_MAX);
    Runtime::current().sleep_until(Runtime::current().now() + 2s);
    REQUIRE(log->reserve_rollback_space(10 * kOwed));
    log->release_rollback_space(10 * kOwed);
    log->close();
  });
}

TEST_CASE("errors while segments are prepared neither lose anything nor stop for long",
          "[log][crash]") {
  const Silence silence;
  const auto operation = GENERATE(DiskOperation::sync, DiskOperation::rename,
                                  DiskOperation::sync_directory, DiskOperation::resize);
  for (std::uint64_t nth = 1; nth < 40; nth += 2) {
    SimulatedDisk disk{nth};
    REQUIRE(disk.create_directory(kSmallDisk));
    Simulation simulation{nth};
    simulation.run([&] {
      auto log = Log::create(disk, crash_options(kSmallDisk)).value();
      disk.inject({.operation = operation, .nth = nth, .times = 2});
      Random random{nth};
      std::vector<Written> written;
      Lsn kept = log->begin();
      while (written.size() < 1500) {
        const std::string payload = random_payload(random, 400);
        const RecordHeader header{.kind = kUpdate};
        auto space = log->reserve(payload.size());
        if (!space) {
          Runtime::current().sleep_until(Runtime::current().now() + 200ms);
          continue;
        }
        const auto [lsn, end] = log->append(*space, header, as_bytes(payload));
        space = Reservation{};
        written.push_back({lsn, end, header, payload});
        if (written.size() % 300 == 0) {
          log->flush_to(end);
          kept = lsn;
          log->keep_from(kept);
        }
      }
      log->close();
      std::erase_if(written, [&](const Written& one) { return one.lsn < kept; });
      REQUIRE(same(read_forward(log->reader(), kept), written));
    });
  }
}
