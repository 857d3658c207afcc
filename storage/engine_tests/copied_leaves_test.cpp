// Leaves with space to reclaim are known in copies of a database, too: in what is restored from a
// backup, and on a standby that is promoted.
#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/restore.h"
#include "storage/standby/sent_files.h"
#include "storage/standby/standby.h"
#include "storage/testing/consumed_queue.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using test::kHome;
using testing::kQueued;

constexpr const char* kCopyName = "copy";
const std::filesystem::path kCopy = std::filesystem::path{"/"} / kCopyName;
/// Rows that are not consumed.
constexpr int kRest = 10;

EngineOptions queue_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{16} << 20U;
  options.log_segment_bytes = std::uint64_t{4} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  options.checkpoint_seconds = 86'400;
  return options;
}

/// A database with a queue, and a snapshot that keeps what is consumed.
struct Queue {
  Queue() {
    REQUIRE(Engine::create(disk, kHome, queue_options()));
    REQUIRE(disk.sync_directory("/"));
    engine = Engine::open(disk, kHome, queue_options()).value();
    id = testing::fill_queue(*engine);
    full = engine->statistics().pages_allocated;
    reader = engine->begin(Isolation::repeatable_read);
    CHECK(rows_of(*engine, *reader) == kQueued);
  }
  void consume() const { testing::consume(*engine, id, 0, kQueued - kRest); }
  [[nodiscard]] int rows_of(Engine& of, Transaction& transaction) const {
    Cursor cursor = of.tree(id).value().scan(transaction, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    return count;
  }
  void close() {
    reader->rollback();
    REQUIRE(engine->close());
  }
  /// Reads nothing of the tree before it is small.
  void require_tidied(Engine& copy) const {
    CHECK(testing::gets_small(copy, full / 4));
    CHECK(copy.verify().value().empty());
    const auto transaction = copy.begin();
    CHECK(rows_of(copy, *transaction) == kRest);
    transaction->rollback();
  }

  SimulatedDisk disk{1};
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Transaction> reader;
  TreeId id{};
  std::uint64_t full = 0;
};

}  // namespace

TEST_CASE("T24 what was to be tidied in a backup is tidied after its restore",
          "[storage][backup]") {
  enum class How : std::uint8_t { full, incremental, on_demand };
  const auto how = GENERATE(How::full, How::incremental, How::on_demand);
  CAPTURE(static_cast<int>(how));
  Simulation{1}.run([&] {
    Queue queue;
    if (how == How::incremental) REQUIRE(queue.engine->back_up("/full"));
    queue.consume();
    // It has all pages written first, so that redo does not show them.
    REQUIRE(queue.engine->back_up("/any"));
    REQUIRE(queue.engine->back_up_changes("/any", "/written"));
    std::vector<std::filesystem::path> backups{"/full"};
    if (how == How::incremental) {
      REQUIRE(queue.engine->back_up_changes("/full", "/part"));
      backups.emplace_back("/part");
    } else {
      REQUIRE(queue.engine->back_up("/full"));
    }
    queue.close();
    if (how == How::on_demand)
      REQUIRE(begin_restore(queue.disk, backups, "/restored", {}, {}));
    else
      REQUIRE(restore_backup(queue.disk, backups, "/restored", {}, {}));
    const auto restored = Engine::open(queue.disk, "/restored", queue_options()).value();
    queue.require_tidied(*restored);
    REQUIRE(restored->close());
  });
}

TEST_CASE("T24 what was to be tidied on a primary is tidied by its promoted standby",
          "[storage][standby]") {
  const bool is_consumed_before = GENERATE(false, true);
  CAPTURE(is_consumed_before);
  Simulation{2}.run([&] {
    Queue queue;
    SimulatedDisk other{2};
    if (is_consumed_before) {
      queue.consume();
      REQUIRE(queue.engine->back_up("/any"));
      REQUIRE(queue.engine->back_up_changes("/any", "/written"));
    }
    {
      ReceivedFiles received{other, "/", {}};
      SentFiles sent{[&](Bytes message) { REQUIRE(received.apply(message)); }};
      REQUIRE(queue.engine->logical_log().copy_database(sent, kCopyName, {}));
    }
    if (!is_consumed_before) queue.consume();
    auto standby = Standby::open(other, kCopy).value();
    const auto log = queue.engine->logical_log().bytes();
    while (standby->received() < log->durable())
      REQUIRE(standby->append(log->read(standby->received(), log->durable()).value()));
    REQUIRE(standby->flush());
    // The pages are written by its redo.
    while (standby->redo_some().value()) continue;
    REQUIRE(standby->promote());
    standby.reset();
    queue.close();
    const auto promoted = Engine::open(other, kCopy, queue_options()).value();
    queue.require_tidied(*promoted);
    REQUIRE(promoted->close());
  });
}

}  // namespace swizzle
