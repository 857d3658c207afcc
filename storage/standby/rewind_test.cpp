// An old primary's directory that becomes a standby of the server that took over.
#include "storage/standby/rewind.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/page/page.h"
#include "storage/standby/sent_files.h"
#include "storage/standby/standby.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;

const std::filesystem::path kCopyName = "copy";
const std::filesystem::path kCopyHome = "/copy";

EngineOptions options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{96} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{300} << 10U;
  return options;
}

std::string row(std::uint64_t number) {
  return fmt::format("row {:06}", number);
}

/// Changes some rows, in several transactions, and perhaps leaves one open.
void write(Engine& engine, TreeId tree, Random& random, std::string_view by) {
  for (std::uint64_t n = random.between(1, 30); n > 0; --n) {
    const auto transaction = engine.begin();
    for (std::uint64_t changes = random.between(1, 8); changes > 0; --changes) {
      transaction->begin_statement();
      Tree into = engine.tree(tree).value();
      const std::string key = row(random.below(2000));
      const std::string value = std::string{by} + std::string(random.below(500), 'v');
      ValueBuffer old;
      const bool is_there =
          into.get(*transaction, as_bytes(key), old, ReadMode::for_update).value();
      if (!is_there) {
        REQUIRE(into.insert(*transaction, as_bytes(key), as_bytes(value)).value());
      } else if (random.one_in(3)) {
        REQUIRE(into.remove(*transaction, as_bytes(key)).value());
      } else {
        REQUIRE(into.update(*transaction, as_bytes(key), as_bytes(value)).value());
      }
    }
    if (random.one_in(8)) {
      transaction->rollback();
    } else {
      REQUIRE(transaction->commit());
    }
  }
  if (random.one_in(3)) {
    // Pages come and go.
    const auto transaction = engine.begin();
    const TreeId made = engine.create_tree(*transaction).value();
    Tree into = engine.tree(made).value();
    for (std::uint64_t n = 0; n < 200; ++n)
      REQUIRE(into.insert(*transaction, as_bytes(row(n)), as_bytes(std::string(300, 'm'))).value());
    REQUIRE(transaction->commit());
    const auto dropping = engine.begin();
    REQUIRE(engine.drop_tree(*dropping, made));
    REQUIRE(dropping->commit());
  }
}

std::string content(Engine& engine, TreeId tree) {
  std::string all;
  const auto transaction = engine.begin(Isolation::repeatable_read, Access::read_only);
  Cursor cursor = engine.tree(tree).value().scan(*transaction, {}).value();
  while (cursor.next().value()) {
    all += as_text(cursor.key());
    all += as_text(cursor.value());
  }
  return all;
}

void follow(Engine& primary, Standby& standby) {
  const auto reader = primary.logical_log().bytes();
  while (standby.received() < reader->durable())
    REQUIRE(standby.append(reader->read(standby.received(), reader->durable()).value()));
  REQUIRE(standby.flush());
}

/// Fails if a page is of the history that ended.
void check_ended(SimulatedDisk& disk, Lsn fork) {
  const auto data = disk.open(kHome / "data", OpenMode::read_only, {}).value();
  const std::uint64_t pages = data->size().value() / kPageBytes;
  std::vector<std::byte> page(kPageBytes);
  for (std::uint64_t n = 1; n < pages; ++n) {
    REQUIRE(data->read_at(n * kPageBytes, page));
    if (load<PageHeader>(page.data()).lsn >= fork) FAIL("page " << n << " is left");
  }
}

/// Counts what a rewind has sent. Its `left` messages may arrive.
struct Copy {
  std::uint64_t left = UINT64_MAX;
  std::uint64_t pages = 0;
};

/// Rewinds the old primary's directory. False: it was interrupted.
bool rewind(SimulatedDisk& disk, Engine& source, Copy& copy) {
  const auto opened = Rewind::open(disk, kHome);
  if (!opened) FAIL(opened.error().message());
  const auto& rewound = *opened;
  CHECK(rewound->log_id() == source.logical_log().log_id());
  const std::uint32_t timeline = source.logical_log().timeline();
  REQUIRE(rewound->part_from(timeline, source.logical_log().history(timeline).value().text()));
  const std::vector<Lsn> kept = rewound->prepare({}).value();
  check_ended(disk, rewound->fork());
  ReceivedFiles received{disk, "/", {}};
  const std::filesystem::path name = kHome.filename();
  received.go_into({.only_in = name, .data_file = name / "data", .kept = name / "unfinished"});
  bool is_whole = true;
  SentFiles sent{[&](Bytes message) {
    if (copy.left == 0) is_whole = false;
    if (!is_whole) return;
    --copy.left;
    if (message[0] == std::byte{'w'} && message.size() > kPageBytes) ++copy.pages;
    REQUIRE(received.apply(message));
  }};
  sent.leave_out_pages(name / "data", kept);
  // Passed over, as a server's settings are.
  REQUIRE(sent.open("settings", OpenMode::create_new, {}).value()->write_at(0, as_bytes("x")));
  REQUIRE(source.logical_log().copy_database(sent, name, {}));
  if (is_whole) REQUIRE(rewound->finish());
  return is_whole;
}

}  // namespace

TEST_CASE("an old primary follows the server that took over, rewound through power cuts",
          "[standby][crash]") {
  for_seeds(20, [](std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.run([&] {
      Random random{seed};
      SimulatedDisk disk{seed};
      SimulatedDisk other{seed + 1};
      REQUIRE(Engine::create(disk, kHome, options()));
      REQUIRE(disk.sync_directory("/"));
      auto old = Engine::open(disk, kHome, options()).value();
      TreeId tree{};
      {
        const auto transaction = old->begin();
        tree = old->create_tree(*transaction).value();
        Tree into = old->tree(tree).value();
        for (std::uint64_t n = 0; n < 1500; ++n)
          REQUIRE(
              into.insert(*transaction, as_bytes(row(n)), as_bytes(std::string(200, 'b'))).value());
        REQUIRE(transaction->commit());
      }
      {
        ReceivedFiles received{other, "/", {}};
        SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
        REQUIRE(old->logical_log().copy_database(sent, kCopyName, {}));
      }
      auto standby = Standby::open(other, kCopyHome).value();
      write(*old, tree, random, "old");
      follow(*old, *standby);
      if (random.one_in(2)) {
        while (standby->redo_some().value()) {
        }
      }
      // Never replicated.
      write(*old, tree, random, "lost");
      if (random.one_in(2)) REQUIRE(old->checkpoint());
      auto unfinished = old->begin();
      REQUIRE(old->tree(tree)
                  .value()
                  .insert(*unfinished, as_bytes("unfinished"), as_bytes("x"))
                  .value());
      old->logical_log().flush();
      // Its rollback is not durable when the power fails.
      unfinished.reset();
      if (random.one_in(3)) {
        REQUIRE(old->close());
        old.reset();
      } else {
        old.reset();
        disk.crash(seed);
      }
      REQUIRE(standby->promote());
      standby.reset();
      auto taken_over = Engine::open(other, kCopyHome, options()).value();
      write(*taken_over, tree, random, "new");

      // Interrupted at any place, it cannot be opened, and is begun again.
      for (int tries = 0; tries < 2; ++tries) {
        Copy copy{.left = random.below(60)};
        if (rewind(disk, *taken_over, copy)) break;
        disk.crash(seed + 10);
        const auto opened = Standby::open(disk, kHome);
        REQUIRE(!opened);
        CHECK_THAT(opened.error().message(), Contains("a rewind of directory"));
        CHECK_THAT(opened.error().hint(), Contains("swizzled rewind"));
        write(*taken_over, tree, random, "newer");
      }
      Copy copy;
      REQUIRE(rewind(disk, *taken_over, copy));
      const std::uint64_t pages = taken_over->size_of(tree).value().pages;
      CHECK(copy.pages < pages + 40);
      auto follower = Standby::open(disk, kHome).value();
      write(*taken_over, tree, random, "later");
      follow(*taken_over, *follower);
      if (random.one_in(2)) {
        while (follower->redo_some().value()) {
        }
      }
      const std::string wanted = content(*taken_over, tree);
      REQUIRE(taken_over->close());
      taken_over.reset();
      REQUIRE(follower->promote());
      CHECK(follower->timeline() == 3);
      follower.reset();
      const auto last = Engine::open(disk, kHome, options()).value();
      CHECK(content(*last, tree) == wanted);
      CHECK(last->verify().value() == std::vector<std::string>{});
    });
  });
}

TEST_CASE("a rewind copies pages that differ, and no others", "[standby]") {
  Simulation simulation{3};
  simulation.run([] {
    SimulatedDisk disk{3};
    SimulatedDisk other{4};
    REQUIRE(Engine::create(disk, kHome, options()));
    auto old = Engine::open(disk, kHome, options()).value();
    auto transaction = old->begin();
    const TreeId tree = old->create_tree(*transaction).value();
    Tree into = old->tree(tree).value();
    for (std::uint64_t n = 0; n < 5000; ++n)
      REQUIRE(into.insert(*transaction, as_bytes(row(n)), as_bytes(std::string(200, 'b'))).value());
    REQUIRE(transaction->commit());
    transaction.reset();
    REQUIRE(old->checkpoint());
    ReceivedFiles received{other, "/", {}};
    SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
    REQUIRE(old->logical_log().copy_database(sent, kCopyName, {}));
    auto standby = Standby::open(other, kCopyHome).value();
    follow(*old, *standby);
    // One row there, and one here.
    const auto update = [&](Engine& engine, std::uint64_t n) {
      const auto writer = engine.begin();
      REQUIRE(engine.tree(tree).value().update(*writer, as_bytes(row(n)), as_bytes("c")).value());
      REQUIRE(writer->commit());
    };
    const auto make_tree = [](Engine& engine, std::uint64_t rows) {
      const auto writer = engine.begin();
      const TreeId made = engine.create_tree(*writer).value();
      Tree filled = engine.tree(made).value();
      for (std::uint64_t n = 0; n < rows; ++n)
        REQUIRE(filled.insert(*writer, as_bytes(row(n)), as_bytes(std::string(300, 'm'))).value());
      REQUIRE(writer->commit());
      return made;
    };
    update(*old, 10);
    // Pages that the other one will use at smaller positions of its log.
    make_tree(*old, 3000);
    REQUIRE(old->close());
    old.reset();
    REQUIRE(standby->promote());
    standby.reset();
    auto taken_over = Engine::open(other, kCopyHome, options()).value();
    update(*taken_over, 4900);
    const std::uint64_t pages = taken_over->size_of(tree).value().pages;
    // From now on its pages, and not its log, have what it has changed.
    REQUIRE(taken_over->close());
    taken_over.reset();
    taken_over = Engine::open(other, kCopyHome, options()).value();
    Copy copy;
    REQUIRE(rewind(disk, *taken_over, copy));
    CHECK(pages > 130);
    CHECK(copy.pages < 20);
    auto follower = Standby::open(disk, kHome).value();
    const TreeId made = make_tree(*taken_over, 300);
    follow(*taken_over, *follower);
    const std::string wanted = content(*taken_over, tree);
    const std::string of_made = content(*taken_over, made);
    while (follower->redo_some().value()) {
    }
    REQUIRE(taken_over->close());
    REQUIRE(follower->promote());
    follower.reset();
    const auto last = Engine::open(disk, kHome, options()).value();
    CHECK(content(*last, tree) == wanted);
    CHECK(content(*last, made) == of_made);
    CHECK(last->verify().value() == std::vector<std::string>{});
  });
}

TEST_CASE("what cannot be rewound is refused", "[standby]") {
  Simulation simulation{4};
  simulation.run([] {
    SimulatedDisk disk{4};
    CHECK(!Rewind::open(disk, kHome));
    REQUIRE(Engine::create(disk, kHome, options()));
    const auto engine = Engine::open(disk, kHome, options()).value();
    const auto locked = Rewind::open(disk, kHome);
    REQUIRE(!locked);
    CHECK(locked.error().state() == SqlState{"55006"});
    REQUIRE(engine->close());
  });
  simulation.run([] {
    SimulatedDisk disk{5};
    REQUIRE(Engine::create(disk, kHome, options()));
    const auto rewound = Rewind::open(disk, kHome).value();
    const auto same = rewound->part_from(1, "");
    REQUIRE(!same);
    CHECK_THAT(same.error().message(), Contains("both servers are on timeline 1"));
    const auto strange = rewound->part_from(7, "5\t0/5000\tno reason\n");
    REQUIRE(!strange);
    CHECK_THAT(strange.error().message(), Contains("no timeline in common"));
  });
}

TEST_CASE("a rewind ends at a file that cannot be removed, and passes over directories",
          "[standby]") {
  Simulation simulation{6};
  simulation.run([] {
    SimulatedDisk disk{6};
    REQUIRE(Engine::create(disk, kHome, options()));
    REQUIRE(disk.create_directory(kHome / "sub"));
    REQUIRE(disk.open(kHome / "sub" / "file", OpenMode::create_new, {}));
    const auto rewound = Rewind::open(disk, kHome).value();
    REQUIRE(rewound->part_from(2, "1\t0/5000\tno reason\n"));
    disk.inject({.operation = DiskOperation::rename, .path_contains = "doublewrite"});
    CHECK(!rewound->prepare({}));
    CHECK(disk.exists(kHome / "doublewrite").value());
    CHECK(rewound->prepare({}));
    CHECK(!disk.exists(kHome / "doublewrite").value());
    CHECK(disk.exists(kHome / "sub" / "file").value());
  });
}
