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

// Expected state of the log, kept outside of the machine whose power is cut.
struct Oracle {
  bool created = false;
  Lsn kept = Lsn::none;
  Lsn acknowledged = Lsn::none;
  std::map<Lsn, Written> appended;

  // Checks that the log has a prefix of the appended records that includes all acknowledged ones.
  // Forgets the lost records after it.
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
  // The test knows which records it needs later, so it may release the others.
  if (random() % 40 == 0) {
    oracle.kept = std::max(oracle.kept, one.lsn);
    log.keep_from(oracle.kept);
  }
}

// Runs the machine once: opens the log, checks it, works on it. Returns what is wrong.
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
      LogOptions options = crash_options(kDirectory);
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

// Run by hand: swizzle_wal_tests "[campaign]" takes minutes.
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
        LogOptions options = crash_options(kDirectory);
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
      auto log = Log::open(disk, crash_options(kDirectory), oracle.kept).value();
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
    auto log = Log::create(disk, crash_options(kDirectory)).value();
    const Written one = append(*log, {.kind = kUpdate}, "released early");
    disk.inject({.operation = DiskOperation::write,
                 .effect = DiskFault::Effect::delay,
                 .path_contains = ".log",
                 .delay = 1s});
    const TimePoint begun = Runtime::current().now();
    // A transaction that reads released data and writes nothing waits for the same LSN.
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
