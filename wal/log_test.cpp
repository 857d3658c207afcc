#include "wal/log.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "wal/log_follower.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;
using namespace std::chrono_literals;

namespace {

struct Setup {
  PosixFileSystem files;
  TemporaryDirectory directory;
  LogOptions options = small_options(directory.path());

  std::unique_ptr<Log> create() { return Log::create(files, options).value(); }
  std::unique_ptr<Log> open(Lsn from) { return Log::open(files, options, from).value(); }
};

InsertMode any_mode() {
  return GENERATE(InsertMode::plain_mutex, InsertMode::consolidation_array,
                  InsertMode::atomic_tail);
}

}  // namespace

TEST_CASE("what was appended is read, forward and backward", "[log]") {
  Setup setup;
  setup.options.insert = any_mode();
  auto log = setup.create();
  Random random{7};
  std::vector<Written> written;
  // Over several segments and several turns of the ring.
  for (int i = 0; i < 3000; ++i) written.push_back(append_random(*log, random, 300));
  log->flush_to(log->tail());
  REQUIRE(log->durable() >= written.back().end);
  REQUIRE(same(read_forward(log->reader(), log->begin()), written));

  Reader reader = log->reader();
  reader.seek(reader.end());
  std::vector<Written> backward;
  for (;;) {
    auto record = reader.previous();
    REQUIRE(record);
    if (!record->has_value()) break;
    if ((*record)->header.kind == RecordKind::flush_mark) continue;
    backward.push_back({(*record)->lsn, (*record)->end, (*record)->header,
                        std::string{as_text((*record)->payload)}});
  }
  std::reverse(backward.begin(), backward.end());
  REQUIRE(same(backward, written));

  Reader there = log->reader(ReadPattern::random);
  for (int i = 0; i < 100; ++i) {
    const Written& one = written[random() % written.size()];
    REQUIRE(as_text(there.read(one.lsn)->payload) == one.payload);
  }
}

TEST_CASE("a page's records are read in both directions, whether they are close or far apart",
          "[log]") {
  Setup setup;
  setup.options.segment_bytes = std::uint64_t{1} << 20U;
  setup.options.buffer_bytes = std::size_t{256} << 10U;
  auto log = setup.create();
  Random random{7};
  std::vector<Written> written;
  for (int i = 0; i < 4000; ++i)
    written.push_back(append_random(*log, random, i % 500 == 0 ? 60'000 : 1'000));
  log->flush_to(log->tail());
  for (const std::size_t step : {1U, 7U, 60U, 700U}) {
    Reader reader = log->reader(ReadPattern::random);
    bool is_right = true;
    const auto check = [&](const Written& one) {
      const auto record = reader.read(one.lsn);
      is_right = is_right && record && record->end == one.end && record->header == one.header &&
                 as_text(record->payload) == one.payload;
    };
    for (std::size_t i = 0; i < written.size(); i += step) check(written[i]);
    for (std::size_t i = written.size(); i > step; i -= step) check(written[i - 1]);
    for (int i = 0; i < 200; ++i) check(written[random() % written.size()]);
    CHECK(is_right);
  }
}

TEST_CASE("what sees the records while a log is opened sees all that are in it", "[log]") {
  class Visitor final : public OpeningVisitor {
   public:
    void begin(Lsn from, Lsn limit) override { range = {from, limit}; }
    void visit(const Record& record) override {
      if (record.header.kind == RecordKind::flush_mark) return;
      seen.push_back({record.lsn, record.end, record.header, std::string{as_text(record.payload)}});
    }
    std::pair<Lsn, Lsn> range;
    std::vector<Written> seen;
  };
  Setup setup;
  Lsn from = Lsn::none;
  std::vector<Written> written;
  {
    auto log = setup.create();
    Random random{7};
    append_random(*log, random, 300);
    from = log->tail();
    for (int i = 0; i < 1000; ++i) written.push_back(append_random(*log, random, 300));
    log->flush_to(log->tail());
  }
  Visitor visitor;
  const auto log = Log::open(setup.files, setup.options, from, &visitor).value();
  CHECK(same(visitor.seen, written));
  CHECK(visitor.range.first == from);
  CHECK(visitor.range.second >= log->begin());
}

TEST_CASE("a reader beside the writer reads on as more is durable", "[log]") {
  Setup setup;
  auto log = setup.create();
  Random random{11};
  Reader reader = log->reader();
  reader.seek(log->begin());
  std::vector<Written> written;
  std::vector<Written> read;
  for (int round = 0; round < 400; ++round) {
    // Mostly a little, in the block that was half full at the last read; sometimes over segments.
    const int count = round % 50 == 49 ? 500 : static_cast<int>(random() % 4);
    for (int i = 0; i < count; ++i) written.push_back(append_random(*log, random, 300));
    log->flush_to(log->tail());
    reader.extend_to(log->durable());
    for (;;) {
      auto record = reader.next();
      REQUIRE(record);
      if (!record->has_value()) break;
      if ((*record)->header.kind == RecordKind::flush_mark) continue;
      read.push_back({(*record)->lsn, (*record)->end, (*record)->header,
                      std::string{as_text((*record)->payload)}});
    }
    REQUIRE(read.size() == written.size());
  }
  REQUIRE(same(read, written));
}

TEST_CASE("records as long as they may be", "[log]") {
  Setup setup;
  setup.options.buffer_bytes = std::size_t{2} << 20U;
  auto log = setup.create();
  std::vector<Written> written;
  for (int i = 0; i < 6; ++i) {
    written.push_back(
        append(*log, {.kind = kUpdate}, std::string(kMaxPayloadBytes, static_cast<char>('a' + i))));
  }
  log->flush_to(written.back().end);
  REQUIRE(same(read_forward(log->reader(), log->begin()), written));
  REQUIRE(log->reserve(std::size_t{3} << 20U).error().state() == sqlstate::program_limit_exceeded);
}

TEST_CASE("a closed log goes on where it ended", "[log]") {
  Setup setup;
  Random random{11};
  std::vector<Written> written;
  Lsn first = Lsn::none;
  {
    auto log = setup.create();
    first = log->begin();
    for (int i = 0; i < 500; ++i) written.push_back(append_random(*log, random, 200));
    log->close();
  }
  for (int run = 0; run < 5; ++run) {
    auto log = setup.open(run % 2 == 0 ? first : written.back().lsn);
    REQUIRE(log->begin() >= written.back().end);
    for (int i = 0; i < 200; ++i) written.push_back(append_random(*log, random, 200));
    log->close();
    REQUIRE(same(read_forward(log->reader(), first), written));
  }
}

TEST_CASE("a log of long segments, written in long writes, opens again", "[log]") {
  // Longer than one write, so that the zeroed tail ends within a segment.
  Setup setup;
  setup.options.segment_bytes = std::uint64_t{16} << 20U;
  setup.options.buffer_bytes = std::size_t{16} << 20U;
  Random random{17};
  std::vector<Written> written;
  Lsn first = Lsn::none;
  for (int run = 0; run < 3; ++run) {
    auto log = run == 0 ? setup.create() : setup.open(first);
    if (run == 0) first = log->begin();
    REQUIRE(same(read_forward(log->reader(), first), written));
    for (int i = 0; i < 60; ++i) written.push_back(append_random(*log, random, 200'000));
    log->flush_to(written.back().end);
  }
  REQUIRE(raw(written.back().end) - raw(first) > setup.options.segment_bytes);
}

TEST_CASE("what was not durable is lost without close", "[log]") {
  Setup setup;
  Written kept;
  Lsn first = Lsn::none;
  {
    auto log = setup.create();
    first = log->begin();
    kept = append(*log, {.kind = kUpdate}, "kept");
    log->flush_to(kept.end);
    append(*log, {.kind = kUpdate}, "lost");
  }
  auto log = setup.open(first);
  REQUIRE(same(read_forward(log->reader(), first), {kept}));
}

TEST_CASE("who follows the log is woken once when more is durable", "[log]") {
  Setup setup;
  auto log = setup.create();
  std::atomic<int> wakes{0};
  const auto wait_for = [&](int count) {
    const auto give_up = std::chrono::steady_clock::now() + 5s;
    while (wakes.load() < count && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(1ms);
    REQUIRE(wakes.load() == count);
  };
  const auto commit = [&] { log->flush_to(append(*log, {.kind = kUpdate}, "commit").end); };
  {
    LogFollower follower{*log, [&] { ++wakes; }};
    commit();
    REQUIRE(wakes.load() == 0);
    const Lsn behind = log->begin();
    REQUIRE_FALSE(follower.awaits_more_than(behind));
    REQUIRE(follower.awaits_more_than(log->durable()));
    commit();
    wait_for(1);
    commit();
    REQUIRE(wakes.load() == 1);
    REQUIRE(follower.awaits_more_than(log->durable()));
  }
  commit();
  REQUIRE(wakes.load() == 1);
}

TEST_CASE("no follower misses a commit, whoever commits meanwhile", "[log]") {
  Setup setup;
  auto log = setup.create();
  std::atomic<bool> woken{false};
  LogFollower follower{*log, [&] {
                         woken = true;
                         woken.notify_one();
                       }};
  constexpr int kCommits = 2000;
  Lsn last = Lsn::none;
  std::atomic<bool> last_is_known{false};
  std::thread committer{[&] {
    for (int i = 0; i < kCommits; ++i) {
      const Written one = append(*log, {.kind = kUpdate}, "commit");
      if (i == kCommits - 1) {
        last = one.end;
        last_is_known = true;
      }
      log->flush_to(one.end);
    }
  }};
  // A lost wake-up would leave us waiting forever, since nothing is committed after the last
  // record.
  Lsn known = log->durable();
  while (!last_is_known.load() || known < last) {
    woken = false;
    if (follower.awaits_more_than(known)) woken.wait(false);
    known = log->durable();
  }
  committer.join();
  REQUIRE(log->durable() >= last);
}

TEST_CASE("an asynchronous commit is durable soon, without anybody waiting", "[log]") {
  Setup setup;
  setup.options.lazy_flush_delay = 20ms;
  auto log = setup.create();
  for (int i = 0; i < 3; ++i) {
    const Written commit = append(*log, {.kind = kUpdate}, "commit");
    log->flush_soon(commit.end);
    const auto give_up = std::chrono::steady_clock::now() + 5s;
    while (log->durable() < commit.end) {
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      std::this_thread::sleep_for(1ms);
    }
  }
  REQUIRE(log->statistics().writes <= 4);
}

TEST_CASE("records are counted, by whoever has appended them", "[log]") {
  Setup setup;
  auto log = setup.create();
  const auto append_some = [&](int times) {
    for (int i = 0; i < times; ++i) {
      auto space = log->reserve(200, 3).value();
      log->append(space, {.kind = kUpdate}, as_bytes("one"));
      log->append(space, {.kind = kUpdate}, as_bytes("two"));
      // A reservation may be moved, and the unused part is returned.
      const Reservation rest = std::move(space);
    }
  };
  const std::uint64_t before = log->statistics().records;
  std::thread other{[&] { append_some(100); }};
  append_some(100);
  other.join();
  // The log writes some records of its own, one per flush.
  const std::uint64_t appended = log->statistics().records - before;
  REQUIRE(appended >= 400);
  REQUIRE(appended <= 410);
  REQUIRE(log->statistics().waits_for_room == 0);
}

TEST_CASE("an asynchronous commit is seen by a writer who is just going to rest", "[log]") {
  SimulatedDisk disk{1};
  REQUIRE(disk.create_directory("/log"));
  Simulation simulation{1};
  simulation.run([&] {
    Runtime& runtime = Runtime::current();
    std::unique_ptr<Log> log;
    Lsn end = Lsn::none;
    LogOptions options = small_options("/log");
    options.before_rest = [&] {
      if (log == nullptr || end != Lsn::none) return;
      end = append(*log, {.kind = kUpdate}, "commit").end;
      log->flush_soon(end);
    };
    log = Log::create(disk, options).value();
    // The writer looks for more to do after this record, while the next one comes.
    log->flush_to(append(*log, {.kind = kUpdate}, "first").end);
    runtime.sleep_until(runtime.now() + 1s);
    REQUIRE(end != Lsn::none);
    REQUIRE(log->durable() >= end);
    log->close();
  });
}

TEST_CASE("segments behind keep_from are recycled, and what they held never comes back", "[log]") {
  Setup setup;
  setup.options.spare_segments = 1;
  auto log = setup.create();
  Random random{13};
  for (int round = 0; round < 12; ++round) {
    std::vector<Written> written;
    for (int i = 0; i < 400; ++i) written.push_back(append_random(*log, random, 300));
    log->flush_to(written.back().end);
    log->keep_from(written.front().lsn);
    REQUIRE(same(read_forward(log->reader(), written.front().lsn), written));
    if (round % 4 == 3) {
      log.reset();
      log = setup.open(written.front().lsn);
      REQUIRE(same(read_forward(log->reader(), written.front().lsn), written));
    }
  }
  log->close();
  const auto after = log->statistics();
  REQUIRE(after.first_segment > 5);
  REQUIRE(after.end_segment - after.first_segment <= 8);
}

TEST_CASE("without logging LSNs grow and everything is durable", "[log]") {
  auto log = Log::none();
  REQUIRE_FALSE(log->enabled());
  Lsn last = Lsn::none;
  for (int i = 0; i < 10; ++i) {
    const Written one = append(*log, {.kind = kUpdate}, "x");
    REQUIRE(one.lsn > last);
    last = one.lsn;
    log->flush_to(one.end);
  }
  REQUIRE(log->durable() == Lsn::max);
  log->close();
}

TEST_CASE("a log is refused where there is one, and where its options make no sense", "[log]") {
  Setup setup;
  setup.create()->close();
  REQUIRE(Log::create(setup.files, setup.options).error().state() == sqlstate::duplicate_file);
  LogOptions odd = setup.options;
  odd.buffer_bytes = 100'000;
  REQUIRE(Log::open(setup.files, odd, Lsn{65536}).error().state() ==
          sqlstate::invalid_parameter_value);
}

TEST_CASE("a new log can begin behind an old one's LSNs", "[log]") {
  Setup setup;
  auto log = Log::create(setup.files, setup.options, Lsn{1'000'000}).value();
  REQUIRE(raw(log->begin()) >= 1'000'000);
  const Written one = append(*log, {.kind = kUpdate}, "x");
  log->close();
  REQUIRE(same(read_forward(log->reader(), log->begin()), {one}));
}
