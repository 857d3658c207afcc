// A database that follows another one's log, through power cuts, up to its promotion.
#include "storage/standby/standby.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/replay_gate.h"
#include "storage/standby/sent_files.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;

constexpr const char* kCopyName = "copy";

EngineOptions small_engine() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{96} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{300} << 10U;
  return options;
}

/// Rows "row N", and the number of the last one.
class Numbers {
 public:
  Numbers(Engine& engine, TreeId tree) : engine_(engine), tree_(tree) {}
  static TreeId create(Engine& engine) {
    const auto transaction = engine.begin();
    const TreeId tree = engine.create_tree(*transaction).value();
    Tree into = engine.tree(tree).value();
    REQUIRE(into.insert(*transaction, as_bytes("count"), as_bytes("0")).value());
    REQUIRE(transaction->commit());
    return tree;
  }
  void add(std::uint64_t number) {
    const auto transaction = engine_.begin();
    Tree tree = engine_.tree(tree_).value();
    REQUIRE(tree.insert(*transaction, as_bytes("row " + std::to_string(number)),
                        as_bytes(std::string(300, 'x')))
                .value());
    REQUIRE(tree.update(*transaction, as_bytes("count"), as_bytes(std::to_string(number))).value());
    REQUIRE(transaction->commit());
  }
  /// Returns the number of rows; fails if the state is none that there has been.
  std::uint64_t check() {
    const auto reader = engine_.begin();
    Cursor cursor = engine_.tree(tree_).value().scan(*reader, {}).value();
    std::uint64_t rows = 0;
    std::uint64_t count = 0;
    while (cursor.next().value()) {
      if (as_text(cursor.key()).starts_with("row")) ++rows;
      if (as_text(cursor.key()) == "count")
        count = std::stoull(std::string{as_text(cursor.value())});
    }
    REQUIRE(rows == count);
    REQUIRE(engine_.verify().value() == std::vector<std::string>{});
    return count;
  }

 private:
  Engine& engine_;
  const TreeId tree_;
};

/// Copies the database to the other disk as a base copy does.
void copy_to(SimulatedDisk& disk, Engine& engine) {
  ReceivedFiles received{disk, "/", {}};
  SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
  REQUIRE(engine.logical_log().copy_database(sent, kCopyName, {}));
}

std::filesystem::path copy_home() {
  return std::filesystem::path{"/"} / kCopyName;
}

/// A primary, and a standby on a disk of its own.
struct Machines {
  explicit Machines(std::uint64_t seed) : disk(seed), other(seed + 1) {
    REQUIRE(Engine::create(disk, kHome, small_engine()));
    primary = Engine::open(disk, kHome, small_engine()).value();
    tree = Numbers::create(*primary);
  }
  void add_rows(std::uint64_t count) {
    Numbers numbers{*primary, tree};
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.add(++rows);
      committed.emplace_back(primary->logical_log().durable(), rows);
    }
  }
  void open_standby() { standby = Standby::open(other, copy_home()).value(); }
  /// Sends `most` bytes at most.
  void send(std::uint64_t most) {
    const auto reader = primary->logical_log().bytes();
    while (most > 0 && standby->received() < reader->durable()) {
      Bytes bytes = reader->read(standby->received(), reader->durable()).value();
      bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), most));
      REQUIRE(standby->append(bytes));
      most -= bytes.size();
    }
  }
  /// Rows that were committed before what the standby has said to be durable.
  [[nodiscard]] std::uint64_t promised() const {
    std::uint64_t number = 0;
    for (const auto& [lsn, row] : committed)
      if (lsn <= durable_there) number = row;
    return number;
  }

  SimulatedDisk disk;
  SimulatedDisk other;
  std::unique_ptr<Engine> primary;
  TreeId tree{};
  std::uint64_t rows = 0;
  std::vector<std::pair<Lsn, std::uint64_t>> committed;
  std::unique_ptr<Standby> standby;
  Lsn durable_there = Lsn::none;
};

}  // namespace

TEST_CASE("a standby keeps what it has said to have, through power cuts, up to its promotion",
          "[standby][crash]") {
  for_seeds(20, [](std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.run([&] {
      Random random{seed};
      Machines machines{seed};
      machines.add_rows(random.between(1, 200));
      copy_to(machines.other, *machines.primary);
      machines.open_standby();
      // An open transaction at the promotion is undone there.
      const auto unfinished = machines.primary->begin();
      Tree tree = machines.primary->tree(machines.tree).value();
      REQUIRE(tree.insert(*unfinished, as_bytes("row never"), as_bytes("x")).value());
      for (int round = 0; round < 12; ++round) {
        machines.add_rows(random.between(1, 60));
        machines.send(random.between(1, 100'000));
        if (random.below(3) != 0) {
          REQUIRE(machines.standby->flush());
          machines.durable_there = machines.standby->durable();
        }
        if (random.below(3) != 0) {
          // Ended in the middle, sometimes.
          std::uint64_t left = random.below(2) == 0 ? random.below(40) : UINT64_MAX;
          const auto redone =
              machines.standby->redo_some([&left] { return left > 0 && left-- > 0; });
          if (!redone) FAIL(redone.error().message());
        }
        if (random.below(3) != 0) continue;
        machines.standby.reset();
        machines.other.crash(seed + static_cast<std::uint64_t>(round));
        machines.open_standby();
        // The durable log may have ended within a record, whose beginning is asked for once more.
        constexpr std::uint64_t kLongestRecord = std::uint64_t{512} << 10U;
        REQUIRE(raw(machines.standby->received()) + kLongestRecord > raw(machines.durable_there));
      }
      REQUIRE(machines.standby->promote());
      CHECK(machines.standby->timeline() == 2);
      machines.standby.reset();
      {
        const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
        CHECK(promoted->logical_log().timeline() == 2);
        CHECK(promoted->logical_log().history(2).value().end_of(1).has_value());
        const std::uint64_t found = Numbers{*promoted, machines.tree}.check();
        CHECK(found >= machines.promised());
        Numbers{*promoted, machines.tree}.add(found + 1);
        REQUIRE(promoted->close());
      }
      const auto again = Engine::open(machines.other, copy_home(), small_engine()).value();
      CHECK(Numbers{*again, machines.tree}.check() > machines.promised());
      REQUIRE(again->close());
      unfinished->rollback();
    });
  });
}

TEST_CASE("a copy that has ended is durable, file by file", "[standby][crash]") {
  for_seeds(5, [](std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.run([seed] {
      Machines machines{seed};
      machines.add_rows(50);
      copy_to(machines.other, *machines.primary);
      const auto sizes = [&machines] {
        std::map<std::string, std::size_t> all;
        for (const auto& where : {copy_home(), copy_home() / "log"}) {
          const auto names = machines.other.list(where).value();
          for (const std::string& name : names)
            if (name != "log") all[name] = machines.other.contents(where / name).size();
        }
        return all;
      };
      const auto written = sizes();
      REQUIRE(written.size() > 6);
      machines.other.crash(seed);
      CHECK(sizes() == written);
    });
  });
}

TEST_CASE("a copy does not wait for pages that were never written", "[standby]") {
  Simulation simulation{14};
  simulation.run([] {
    Machines machines{14};
    EngineOptions large = small_engine();
    large.pool_bytes *= 20;
    REQUIRE(machines.primary->close());
    machines.primary.reset();
    machines.primary = Engine::open(machines.disk, kHome, large).value();
    machines.add_rows(1500);
    const TimePoint began = Runtime::current().now();
    copy_to(machines.other, *machines.primary);
    CHECK(Runtime::current().now() - began < std::chrono::seconds{1});
    machines.open_standby();
    REQUIRE(machines.standby->promote());
    machines.standby.reset();
    const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
    CHECK(Numbers{*promoted, machines.tree}.check() == 1500);
    REQUIRE(promoted->close());
  });
}

TEST_CASE("what is promoted stays promoted, whichever copy of the control file is lost",
          "[standby]") {
  const char* const lost = GENERATE("control-0", "control-1");
  Simulation simulation{7};
  simulation.run([lost] {
    Machines machines{7};
    machines.add_rows(50);
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->flush());
    REQUIRE(Standby::is_in(machines.other, copy_home()).value());
    REQUIRE(machines.standby->promote());
    CHECK(!Standby::is_in(machines.other, copy_home()).value());
    machines.standby.reset();
    REQUIRE(machines.other.remove(copy_home() / lost));
    const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
    CHECK(promoted->logical_log().timeline() == 2);
    REQUIRE(promoted->close());
  });
}

TEST_CASE("a standby that has followed to another timeline goes on there after a crash",
          "[standby][crash]") {
  Simulation simulation{8};
  simulation.run([] {
    Machines machines{8};
    machines.add_rows(50);
    copy_to(machines.other, *machines.primary);
    SimulatedDisk third{9};
    copy_to(third, *machines.primary);
    machines.open_standby();
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->flush());
    REQUIRE(machines.standby->promote());
    machines.standby.reset();
    const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
    const std::string history = promoted->logical_log().history(2).value().text();
    Numbers numbers{*promoted, machines.tree};
    const std::uint64_t before = numbers.check();
    numbers.add(before + 1);
    const auto follow = [&](std::uint64_t most) {
      auto follower = Standby::open(third, copy_home()).value();
      REQUIRE(follower->follow_timeline(2, history));
      const auto reader = promoted->logical_log().bytes();
      while (most > 0 && follower->received() < reader->durable()) {
        Bytes bytes = reader->read(follower->received(), reader->durable()).value();
        bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), most));
        REQUIRE(follower->append(bytes));
        most -= bytes.size();
      }
      REQUIRE(follower->flush());
      return follower;
    };
    // It has log of the new timeline, and has redone nothing.
    follow(UINT64_MAX).reset();
    third.crash(1);
    auto follower = follow(UINT64_MAX);
    CHECK(follower->timeline() == 2);
    // It is not opened by mistake.
    follower.reset();
    const auto opened = Engine::open(third, copy_home(), small_engine());
    REQUIRE(!opened);
    CHECK(opened.error().state() == sqlstate::object_not_in_prerequisite_state);
    CHECK_THAT(opened.error().message(), Contains("standby that has not been promoted"));
    follower = Standby::open(third, copy_home()).value();
    REQUIRE(follower->promote());
    CHECK(follower->timeline() == 3);
    follower.reset();
    const auto again = Engine::open(third, copy_home(), small_engine()).value();
    CHECK(Numbers{*again, machines.tree}.check() == before + 1);
    REQUIRE(again->close());
    REQUIRE(promoted->close());
  });
}

TEST_CASE("a copy of a promoted server can be promoted in its turn", "[standby]") {
  Simulation simulation{12};
  simulation.run([] {
    Machines machines{12};
    machines.add_rows(20);
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    REQUIRE(machines.standby->promote());
    machines.standby.reset();
    SimulatedDisk third{13};
    {
      const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
      Numbers{*promoted, machines.tree}.add(21);
      copy_to(third, *promoted);
      REQUIRE(promoted->close());
    }
    const auto standby = Standby::open(third, copy_home()).value();
    CHECK(standby->timeline() == 2);
    REQUIRE(standby->promote());
    CHECK(standby->timeline() == 3);
  });
}

TEST_CASE("redo keeps the log that a promotion reads short", "[standby]") {
  Simulation simulation{5};
  simulation.run([] {
    Machines machines{5};
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    for (int round = 0; round < 20; ++round) {
      machines.add_rows(200);
      machines.send(UINT64_MAX);
      REQUIRE(machines.standby->flush());
      REQUIRE(machines.standby->redo_some().value());
      // All but the last record.
      CHECK(raw(machines.standby->received()) - raw(machines.standby->redone()) < 4096);
    }
    const auto names = machines.other.list(copy_home() / "log").value();
    CHECK(names.size() <= 4);
    REQUIRE(machines.standby->promote());
    machines.standby.reset();
    const auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
    CHECK(Numbers{*promoted, machines.tree}.check() == machines.rows);
    REQUIRE(promoted->close());
  });
}

TEST_CASE("a slot of a standby keeps its log, also while nobody reads it", "[standby]") {
  Simulation simulation{7};
  simulation.run([] {
    Machines machines{7};
    copy_to(machines.other, *machines.primary);
    const auto follow = [&](int rounds) {
      for (int round = 0; round < rounds; ++round) {
        machines.add_rows(200);
        machines.send(UINT64_MAX);
        REQUIRE(machines.standby->flush());
        REQUIRE(machines.standby->redo_some().value());
      }
    };
    const auto segments = [&] { return machines.other.list(copy_home() / "log").value().size(); };
    machines.open_standby();
    follow(2);
    auto engine = machines.standby
                      ->open_engine(small_engine(),
                                    {.patience = [] { return std::optional{Duration{}}; },
                                     .cancel = [] {},
                                     .moved = [](const std::set<TreeId>&) { return Result<>{}; }})
                      .value();
    Slot slot;
    slot.name = "behind";
    slot.restart = Lsn::max;
    REQUIRE(engine->replay_gate()->enter());
    const Lsn kept = engine->logical_log().make_physical_slot(slot, 10).value();
    engine->logical_log().slots().release("behind");
    engine->replay_gate()->leave();
    CHECK(kept <= machines.standby->redone());
    follow(30);
    const std::size_t with_slot = segments();
    CHECK(with_slot > 6);
    CHECK(engine->logical_log().bytes()->read(kept, machines.standby->redone()));
    engine.reset();
    machines.standby->forget_engine();
    machines.standby.reset();
    // The next start knows of it before there is an engine.
    machines.open_standby();
    follow(5);
    CHECK(segments() > with_slot);
    engine = machines.standby
                 ->open_engine(small_engine(),
                               {.patience = [] { return std::optional{Duration{}}; },
                                .cancel = [] {},
                                .moved = [](const std::set<TreeId>&) { return Result<>{}; }})
                 .value();
    REQUIRE(engine->logical_log().slots().drop("behind", 0));
    follow(3);
    CHECK(segments() <= 5);
    engine.reset();
    machines.standby->forget_engine();
  });
}

TEST_CASE("no step ends where pages may be ahead of it", "[standby]") {
  Simulation simulation{10};
  simulation.run([] {
    Machines machines{10};
    machines.add_rows(100);
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    machines.add_rows(1);
    const Lsn before = machines.standby->redone();
    // As after a step that wanted to go further, and has written some pages before a crash.
    const std::string goal = std::to_string(raw(machines.standby->received()) + 9) + "\n";
    machines.standby.reset();
    {
      const auto file =
          machines.other.open(copy_home() / "standby-redo", OpenMode::read_write, {}).value();
      REQUIRE(file->truncate(0));
      REQUIRE(file->write_at(0, as_bytes(goal)));
      REQUIRE(file->sync());
    }
    machines.open_standby();
    machines.send(9);
    REQUIRE(machines.standby->flush());
    CHECK(!machines.standby->redo_some().value());
    CHECK(machines.standby->redone() == before);
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->flush());
    CHECK(machines.standby->redo_some().value());
    CHECK(machines.standby->redone() > before);
  });
}

TEST_CASE("a standby that has lost log which its pages have is not promoted", "[standby]") {
  Simulation simulation{11};
  simulation.run([] {
    Machines machines{11};
    machines.add_rows(20);
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    const Lsn copied = machines.standby->received();
    machines.add_rows(100);
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->flush());
    // A step that has begun to write pages.
    std::uint64_t left = 3;
    REQUIRE(!machines.standby->redo_some([&left] { return left > 0 && left-- > 0; }).value());
    REQUIRE(machines.standby->redone() < machines.standby->received());
    machines.standby.reset();
    const auto names = machines.other.list(copy_home() / "log").value();
    const std::string last = *std::ranges::max_element(names);
    constexpr std::uint64_t kHeader = 4096;
    const std::uint64_t at = kHeader + (raw(copied) + 1000) % (std::uint64_t{256} << 10U);
    machines.other.corrupt(copy_home() / "log" / last, at, as_bytes(std::string(2000, '?')));
    machines.open_standby();
    REQUIRE(raw(machines.standby->received()) < raw(copied) + 2000);
    const auto promoted = machines.standby->promote();
    REQUIRE(!promoted);
    CHECK(promoted.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(promoted.error().message(), Contains("pages have been redone up to"));
    CHECK(Standby::is_in(machines.other, copy_home()).value());
    // The primary has it.
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->promote());
  });
}

TEST_CASE("an old primary that has more log than was replicated cannot follow", "[standby]") {
  const bool is_ahead = GENERATE(false, true);
  Simulation simulation{6};
  simulation.run([is_ahead] {
    Machines machines{6};
    machines.add_rows(50);
    copy_to(machines.other, *machines.primary);
    machines.open_standby();
    machines.add_rows(50);
    machines.send(UINT64_MAX);
    REQUIRE(machines.standby->flush());
    const Lsn parted = machines.standby->received();
    machines.primary->logical_log().flush();
    if (is_ahead) machines.add_rows(5);
    machines.primary.reset();
    machines.disk.sync_everything();
    REQUIRE(machines.standby->promote());
    machines.standby.reset();
    auto promoted = Engine::open(machines.other, copy_home(), small_engine()).value();
    const std::string history = promoted->logical_log().history(2).value().text();
    const auto old = Standby::open(machines.disk, kHome).value();
    const auto follows = old->follow_timeline(2, history);
    if (!is_ahead && old->received() <= parted) {
      REQUIRE(follows);
      CHECK(old->timeline() == 2);
      return;
    }
    REQUIRE(!follows);
    CHECK(follows.error().state() == sqlstate::object_not_in_prerequisite_state);
    CHECK_THAT(follows.error().message(), Contains("not a part of timeline 2"));
    CHECK_THAT(follows.error().detail(), Contains("never replicated"));
    // Nor may a server of timeline 2 follow one of timeline 1.
    promoted.reset();
    const auto later = Standby::open(machines.other, copy_home()).value();
    const auto back = later->follow_timeline(1, "");
    REQUIRE(!back);
    CHECK(back.error().message() ==
          "highest timeline 1 of the primary is behind recovery timeline 2");
  });
}

TEST_CASE("messages of a copy stay in its directory", "[standby]") {
  SimulatedDisk disk{1};
  Simulation simulation{1};
  simulation.run([&] {
    REQUIRE(disk.create_directory("/in"));
    ReceivedFiles received{disk, "/in", {}};
    const auto refused = [&](const char* path) {
      SentFiles sent{[&](Bytes message) {
        const auto applied = received.apply(message);
        REQUIRE(!applied);
        CHECK(applied.error().state().code() == "08P01");
      }};
      REQUIRE(sent.create_directory(path));
    };
    refused("/etc");
    refused("../out");
    refused("a/../../out");
    CHECK(!received.apply(as_bytes("w")));
    CHECK(!received.apply(as_bytes("w.............")));
    CHECK(!received.apply(as_bytes("?.............")));
  });
}
