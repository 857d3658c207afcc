#include <spdlog/spdlog.h>

#include <map>
#include <optional>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "wal/internal/segment.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;
using namespace std::chrono_literals;

namespace {

const std::filesystem::path kDirectory = "/log";

// What happened, kept outside of the machine that loses its power.
struct Oracle {
  bool created = false;
  Lsn kept = Lsn::none;
  Lsn acknowledged = Lsn::none;
  std::map<Lsn, Written> appended;

  // What the log holds must be the beginning of what was appended, and reach behind what was
  // acknowledged. The rest was lost and is forgotten.
  std::optional<std::string> judge(Log& log) {
    const auto read = try_read_forward(log.reader(), kept);
    if (!read) return read.error().message();
    auto expected = appended.lower_bound(kept);
    Lsn end = kept;
    for (const Written& record : *read) {
      if (expected == appended.end() || !same({expected->second}, {record})) {
        return "a record at LSN " + std::to_string(raw(record.lsn)) + " that nobody wrote";
      }
      end = record.end;
      ++expected;
    }
    if (end < acknowledged) {
      return "acknowledged up to " + std::to_string(raw(acknowledged)) + ", found up to " +
             std::to_string(raw(end));
    }
    appended.erase(expected, appended.end());
    return std::nullopt;
  }
};

LogOptions crash_options() {
  LogOptions options = small_options(kDirectory);
  options.spare_segments = 1;
  return options;
}

void commit(Log& log, Oracle& oracle, Random& random) {
  const bool long_one = random() % 20 == 0;
  const Written one = append_random(log, random, long_one ? 12'000 : 400);
  oracle.appended.emplace(one.lsn, one);
  if (random() % 8 == 0) {
    log.flush_soon(one.end);
    return;
  }
  if (random() % 3 == 0) return;
  log.flush_to(one.end);
  oracle.acknowledged = std::max(oracle.acknowledged, one.end);
  // What is needed later is found by the test itself, so it may give up the rest.
  if (random() % 40 == 0) {
    oracle.kept = std::max(oracle.kept, one.lsn);
    log.keep_from(oracle.kept);
  }
}

// One life of the machine: opens the log, judges it, works on it. Returns what is wrong.
std::optional<std::string> live(SimulatedDisk& disk, Oracle& oracle, LogOptions options,
                                std::uint64_t seed, int commits_each) {
  std::unique_ptr<Log> log;
  if (!oracle.created) {
    const auto left_behind = disk.list(kDirectory).value();
    for (const auto& name : left_behind) {
      REQUIRE(disk.remove(kDirectory / name));
    }
    auto created = Log::create(disk, std::move(options));
    if (!created) return created.error().message();
    log = std::move(*created);
    oracle.kept = oracle.acknowledged = log->begin();
    oracle.created = true;
  } else {
    auto opened = Log::open(disk, std::move(options), oracle.kept);
    if (!opened) return opened.error().message();
    log = std::move(*opened);
    if (auto wrong = oracle.judge(*log)) return wrong;
  }
  std::vector<std::unique_ptr<Task>> committers;
  for (std::uint64_t t = 0; t < 6; ++t) {
    committers.push_back(Runtime::current().spawn("committer", [&, t] {
      Random random{seed * 31 + t};
      for (int i = 0; i < commits_each; ++i) commit(*log, oracle, random);
    }));
  }
  for (auto& committer : committers) committer->join();
  log->close();
  if (!oracle.appended.empty()) oracle.acknowledged = oracle.appended.rbegin()->second.end;
  if (auto wrong = oracle.judge(*log)) return wrong;
  return std::nullopt;
}

struct Campaign {
  std::uint64_t points = 0;
  std::uint64_t violations = 0;
  std::string first_violation;
};

// Cuts the power at the nth change, and again `depth - 1` times soon after each restart.
template <class Adjust>
std::optional<std::string> crash_at(std::uint64_t nth, std::uint64_t seed, int depth,
                                    Adjust adjust) {
  SimulatedDisk disk{seed};
  REQUIRE(disk.create_directory(kDirectory));
  disk.sync_everything();
  Oracle oracle;
  Random random{seed};
  std::optional<std::string> wrong;
  for (int life = 0; life <= depth && !wrong; ++life) {
    if (life == 0) disk.cut_power_at(DiskOperation::change, nth);
    if (life > 0 && life < depth) {
      disk.cut_power_at(DiskOperation::change, 1 + random() % 30);
    }
    Simulation simulation{seed * 7 + static_cast<std::uint64_t>(life)};
    simulation.run([&] {
      LogOptions options = crash_options();
      adjust(options);
      wrong = live(disk, oracle, std::move(options), seed + static_cast<std::uint64_t>(life),
                   life == 0 ? 40 : 10);
    });
    disk.crash(random());
  }
  return wrong;
}

template <class Adjust>
Campaign run_campaign(std::uint64_t first, std::uint64_t step, std::uint64_t last, int depth,
                      Adjust adjust) {
  Campaign campaign;
  for (std::uint64_t nth = first; nth <= last; nth += step) {
    ++campaign.points;
    if (const auto wrong = crash_at(nth, nth * 13 + 1, depth, adjust)) {
      if (campaign.violations++ == 0) {
        campaign.first_violation = "power cut at change " + std::to_string(nth) + ": " + *wrong;
      }
    }
  }
  return campaign;
}

}  // namespace

TEST_CASE("power cuts at many changes: nothing acknowledged is lost, nothing invented",
          "[log][crash]") {
  const Campaign campaign = run_campaign(1, 5, 250, 1, [](LogOptions&) {});
  INFO(campaign.first_violation);
  REQUIRE(campaign.violations == 0);
}

TEST_CASE("power cuts during the restart after a power cut, three deep", "[log][crash]") {
  const Campaign campaign = run_campaign(2, 12, 250, 3, [](LogOptions&) {});
  INFO(campaign.first_violation);
  REQUIRE(campaign.violations == 0);
}

// By hand: swizzle_wal_tests "[campaign]" takes minutes.
TEST_CASE("power cuts at every change, one to three deep", "[log][.][campaign]") {
  for (const int depth : {1, 2, 3}) {
    const Campaign campaign = run_campaign(1, 1, 400, depth, [](LogOptions&) {});
    INFO(campaign.first_violation);
    REQUIRE(campaign.violations == 0);
    WARN(campaign.points << " power cuts, " << depth << " deep");
  }
}

#ifdef SWIZZLE_PLANTED_FAULTS
TEST_CASE("the campaign catches every planted fault", "[log][faults]") {
  const auto fault = GENERATE(PlantedFault::skip_sync, PlantedFault::lose_last_block,
                              PlantedFault::acknowledge_too_early);
  CAPTURE(static_cast<int>(fault));
  const Campaign campaign =
      run_campaign(10, 3, 250, 1, [&](LogOptions& options) { options.fault = fault; });
  REQUIRE(campaign.violations > 0);
}
#endif

TEST_CASE("P32 one failed write of the log stops everything", "[log][crash]") {
  for (std::uint64_t nth = 2; nth < 40; ++nth) {
    SimulatedDisk disk{nth};
    REQUIRE(disk.create_directory(kDirectory));
    disk.sync_everything();
    Oracle oracle;
    std::string reason;
    {
      Simulation simulation{nth};
      const auto outcome = simulation.run([&] {
        LogOptions options = crash_options();
        options.panic = [&](const std::string& why) {
          reason = why;
          Simulation::running()->stop();
        };
        auto log = Log::create(disk, options).value();
        oracle.kept = oracle.acknowledged = log->begin();
        disk.inject(
            {.operation = DiskOperation::write,
             .effect = nth % 2 == 0 ? DiskFault::Effect::fail : DiskFault::Effect::fail_half_way,
             .nth = nth,
             .path_contains = ".log"});
        Random random{nth};
        for (;;) commit(*log, oracle, random);
      });
      REQUIRE(outcome == Simulation::Outcome::stopped);
    }
    REQUIRE_THAT(reason, Catch::Contains("could not write"));
    disk.clear_faults();
    disk.crash(nth);
    Simulation again{nth};
    again.run([&] {
      auto log = Log::open(disk, crash_options(), oracle.kept).value();
      const auto wrong = oracle.judge(*log);
      INFO(wrong.value_or(""));
      REQUIRE_FALSE(wrong);
      log->close();
    });
  }
}

TEST_CASE("P10 nobody is acknowledged before a slow write is done, and slow is no failure",
          "[log][crash]") {
  SimulatedDisk disk{3};
  REQUIRE(disk.create_directory(kDirectory));
  Simulation simulation{3};
  simulation.run([&] {
    auto log = Log::create(disk, crash_options()).value();
    const Written one = append(*log, {.kind = kUpdate}, "released early");
    disk.inject({.operation = DiskOperation::write,
                 .effect = DiskFault::Effect::delay,
                 .path_contains = ".log",
                 .delay = 1s});
    const TimePoint begun = Runtime::current().now();
    // A reader of what the writer released, who wrote nothing, waits for the same LSN.
    auto reader = Runtime::current().spawn("reader", [&] {
      log->flush_to(one.end);
      REQUIRE(Runtime::current().now() - begun >= 1s);
      REQUIRE(log->durable() >= one.end);
    });
    log->flush_to(one.end);
    REQUIRE(Runtime::current().now() - begun >= 1s);
    reader->join();
    log->close();
  });
}

// What the log says to the operator about failures that a test causes on purpose.
struct Silence {
  Silence() { spdlog::set_level(spdlog::level::off); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { spdlog::set_level(spdlog::level::info); }
};

TEST_CASE("a full disk refuses growth, leaves room for completion, and is over when there is space",
          "[log][crash]") {
  const Silence silence;
  SimulatedDisk disk{5};
  REQUIRE(disk.create_directory(kDirectory));
  Simulation simulation{5};
  simulation.run([&] {
    LogOptions options = crash_options();
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
    // Those who must finish still can, and readers read.
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

    // More than was kept for them: they wait, they do not fail.
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

namespace {

/// A log on a disk with room for a few segments, most of which somebody keeps.
struct CrowdedLog {
  explicit CrowdedLog(Duration patience) {
    REQUIRE(disk.create_directory(kDirectory));
    options.release_patience = patience;
    log = Log::create(disk, options).value();
    disk.leave_room(6 * options.segment_bytes);
  }
  /// How much it took, up to the first refusal or 60 segments.
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
      // So that a transaction's room must be looked for as well.
      if (!random.one_in(100)) continue;
      REQUIRE(log->owe_rollback(options.segment_bytes));
      log->settle_rollback(options.segment_bytes);
    }
    return written;
  }

  SimulatedDisk disk{11};
  Random random{11};
  LogOptions options = crash_options();
  std::unique_ptr<Log> log;
};

}  // namespace

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
    // Who asks in vain hears so at once.
    releases = false;
    const TimePoint begun = Runtime::current().now();
    REQUIRE(crowded.write() < 10 * crowded.options.segment_bytes);
    REQUIRE(Runtime::current().now() - begun < 2s);
    REQUIRE_FALSE(crowded.log->reserve(12'000));
    REQUIRE(Runtime::current().now() - begun < 2s);
    // It is asked again, and writers go on.
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
  REQUIRE(disk.create_directory(kDirectory));
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
  const LogOptions options = crash_options();
  simulation.run([&] {
    auto log = Log::create(disk, options).value();
    log->recovered();
    REQUIRE(log->owe_rollback(kOwed));
    disk.leave_room(0);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    // More than the disk has, and than lies in prepared segments.
    REQUIRE(log->owe_rollback(kOwed).error().state() == sqlstate::disk_full);
    // Half of it; what is left is not anybody's.
    roll_back(*log, kOwed / 2);
    log->settle_rollback(kOwed / 2);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    log->close();
  });
  // Another start knows that there is still something to be rolled back, and how much at most.
  simulation.run([&] {
    auto log = Log::open(disk, options, Log::origin(options.segment_bytes)).value();
    REQUIRE(fill(*log) == sqlstate::disk_full);
    REQUIRE(log->owe_rollback(kOwed));
    roll_back(*log, kOwed / 2);
    log->settle_rollback(kOwed);
    log->recovered();
    disk.leave_room(2 * options.segment_bytes);
    Runtime::current().sleep_until(Runtime::current().now() + 2s);
    // A little has room in the segments that are prepared.
    disk.leave_room(0);
    REQUIRE(log->owe_rollback(1000));
    log->settle_rollback(1000);
    REQUIRE(fill(*log) == sqlstate::disk_full);
    disk.limit_capacity(UINT64_MAX);
    Runtime::current().sleep_until(Runtime::current().now() + 2s);
    REQUIRE(log->owe_rollback(10 * kOwed));
    log->settle_rollback(10 * kOwed);
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
    REQUIRE(disk.create_directory(kDirectory));
    Simulation simulation{nth};
    simulation.run([&] {
      auto log = Log::create(disk, crash_options()).value();
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
