// Versions needed by snapshots: kept as long as they are needed, within the limit, and no longer.
// Also locks on whole trees that replace many key locks.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

std::string row(int number) {
  return "row " + std::to_string(10'000 + number);
}

class VersionedRows : public testing::TemporaryEngine {
 public:
  void with(std::uint64_t version_store_bytes, std::uint32_t escalation = 100'000,
            std::uint64_t version_file_bytes = 0) {
    engine.reset();
    options.version_store_bytes = version_store_bytes;
    options.version_file_bytes = version_file_bytes;
    options.lock_escalation_threshold = escalation;
    open();
    tree = make_tree();
    const auto transaction = engine->begin();
    for (int i = 0; i < kRows; ++i)
      REQUIRE(table().insert(*transaction, as_bytes(row(i)), as_bytes(old_value())).value());
    REQUIRE(transaction->commit());
  }
  [[nodiscard]] Tree table() const { return engine->tree(tree).value(); }
  void update(int number, const std::string& to,
              Transaction::Durability durability = Transaction::Durability::asynchronous) {
    const auto transaction = engine->begin();
    REQUIRE(table().update(*transaction, as_bytes(row(number)), as_bytes(to)).value());
    REQUIRE(transaction->commit(durability));
  }
  static std::string old_value() { return std::string(100, 'o'); }
  /// Waits until the background task has freed the versions.
  [[nodiscard]] bool store_becomes_empty() const {
    for (int i = 0; i < 1000; ++i) {
      if (engine->statistics().version_bytes == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  }
  [[nodiscard]] bool files_become_empty() const {
    for (int i = 0; i < 1000; ++i) {
      if (engine->statistics().version_file_bytes == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  }
  [[nodiscard]] std::string value_for(Transaction& reader, int number) const {
    ValueBuffer into;
    REQUIRE(table().get(reader, as_bytes(row(number)), into).value());
    return std::string{as_text(into.bytes())};
  }
  static constexpr int kRows = 1500;
  static constexpr std::uint64_t kSmallStore = std::uint64_t{512} << 10U;
  static constexpr std::uint64_t kMuchRoom = std::uint64_t{1} << 30U;
  TreeId tree{};
};

}  // namespace

TEST_CASE_METHOD(VersionedRows, "a long scan of a table that is rewritten meanwhile completes",
                 "[storage][isolation]") {
  with(std::uint64_t{8} << 20U);
  const Direction direction = GENERATE(Direction::forward, Direction::backward);
  const auto size = std::filesystem::file_size(data / "data");
  const auto reader = engine->begin(Isolation::repeatable_read);
  reader->work_for(7, nullptr);
  Cursor cursor = table().scan(*reader, {}, direction).value();
  int seen = 0;
  while (cursor.next().value()) {
    CHECK(as_text(cursor.value()) == old_value());
    ++seen;
    // Three times over, at the other's pace.
    for (int i = 0; i < 3; ++i) update((seen * 3 + i) % kRows, std::string(100, 'n'));
  }
  CHECK(seen == kRows);
  const auto held = engine->snapshots();
  REQUIRE(held.size() == 1);
  CHECK(held.front().label == 7);
  CHECK(held.front().held_bytes > std::uint64_t{3} * kRows * 100);
  CHECK(held.front().held_bytes <= engine->statistics().version_bytes);
  CHECK(held.front().state == HeldSnapshot::State::usable);
  REQUIRE(reader->commit());
  CHECK(store_becomes_empty());
  CHECK(engine->snapshots().empty());
  CHECK(std::filesystem::file_size(data / "data") == size);
}

TEST_CASE_METHOD(VersionedRows,
                 "Views that are held show what they saw, and keep what the oldest needs",
                 "[storage][isolation]") {
  with(std::uint64_t{64} << 20U);
  const auto reader = engine->begin();
  const auto value = [&] {
    ValueBuffer into;
    REQUIRE(table().get(*reader, as_bytes(row(0)), into).value());
    return std::string{as_text(into.bytes())};
  };
  std::vector<HeldView> views;
  for (int i = 0; i < 4; ++i) {
    reader->begin_statement();
    views.emplace_back(*reader);
    update(0, "value " + std::to_string(i));
  }
  reader->begin_statement();
  CHECK(value() == "value 3");
  Lsn kept = Lsn::none;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(engine->snapshots().size() == 1);
    CHECK(engine->snapshots().front().lsn > kept);
    kept = engine->snapshots().front().lsn;
    {
      const HeldView::Reading reading{views.front()};
      CHECK(value() == (i == 0 ? old_value() : "value " + std::to_string(i - 1)));
      const InnerStatement inner{*reader};
      CHECK(value() == "value 3");
    }
    CHECK(value() == "value 3");
    views.erase(views.begin());
  }
  reader->begin_statement();
  CHECK(engine->snapshots().empty());
  REQUIRE(reader->commit());
  CHECK(store_becomes_empty());
}

TEST_CASE_METHOD(VersionedRows,
                 "A view that is given up does not keep its transaction from going on",
                 "[storage][isolation]") {
  with(std::uint64_t{512} << 10U);
  const auto reader = engine->begin();
  reader->begin_statement();
  HeldView old{*reader};
  for (int i = 0; i < 3 * kRows; ++i)
    update(i % kRows, "new " + std::to_string(i), Transaction::Durability::synchronous);
  CHECK(engine->statistics().snapshots_too_old == 1);
  ValueBuffer value;
  const auto read = [&] { return table().get(*reader, as_bytes(row(5)), value); };
  reader->begin_statement();
  HeldView young{*reader};
  const std::string before = "new " + std::to_string(2 * kRows + 5);
  update(5, "newest");
  CHECK(read().value());
  CHECK(as_text(value.bytes()) == before);
  reader->begin_statement();
  CHECK(read().value());
  CHECK(as_text(value.bytes()) == "newest");
  {
    const HeldView::Reading reading{old};
    const auto seen = read();
    REQUIRE_FALSE(seen.has_value());
    CHECK(seen.error().state() == sqlstate::snapshot_too_old);
  }
  {
    const HeldView::Reading reading{young};
    CHECK(read().value());
    CHECK(as_text(value.bytes()) == before);
  }
  old.reset();
  REQUIRE(engine->snapshots().size() == 1);
  young.reset();
  reader->begin_statement();
  CHECK(engine->snapshots().empty());
  REQUIRE(reader->commit());
}

TEST_CASE_METHOD(VersionedRows,
                 "P37 beyond the bound the oldest snapshot is too old, and writers go on",
                 "[storage][isolation]") {
  constexpr std::uint64_t kBound = std::uint64_t{512} << 10U;
  with(kBound);
  const auto old = engine->begin(Isolation::repeatable_read);
  const auto writer = engine->begin(Isolation::repeatable_read);
  CHECK(get(*old, tree, row(5)) == old_value());
  CHECK(get(*writer, tree, row(5)) == old_value());
  std::uint64_t most = 0;
  for (int i = 0; i < 3 * kRows; ++i) {
    update(i % kRows, "new " + std::to_string(i), Transaction::Durability::synchronous);
    most = std::max(most, engine->statistics().version_bytes);
  }
  // The limit is checked every few commits.
  CHECK(most < kBound + kBound / 4);
  CHECK(engine->statistics().snapshots_too_old == 2);
  ValueBuffer value;
  const auto point = table().get(*old, as_bytes(row(5)), value);
  REQUIRE_FALSE(point.has_value());
  CHECK(point.error().state() == sqlstate::snapshot_too_old);
  Cursor cursor = table().scan(*old, {}).value();
  const auto scan = cursor.next();
  REQUIRE_FALSE(scan.has_value());
  CHECK(scan.error().state() == sqlstate::snapshot_too_old);
  // It is not known any more whether others have changed the row.
  const auto update_of_old = table().update(*writer, as_bytes(row(7)), as_bytes("lost"));
  REQUIRE_FALSE(update_of_old.has_value());
  CHECK(update_of_old.error().state() == sqlstate::snapshot_too_old);
  for (const HeldSnapshot& held : engine->snapshots())
    CHECK(held.state == HeldSnapshot::State::too_old);
  old->rollback();
  writer->rollback();
  // A new snapshot is unaffected.
  CHECK(get(tree, row(5)) == "new " + std::to_string(2 * kRows + 5));
  CHECK(store_becomes_empty());
}

TEST_CASE_METHOD(VersionedRows, "T8 beyond the bound versions go to files, and are found there",
                 "[storage][isolation][spill]") {
  with(kSmallStore, 100'000, kMuchRoom);
  const auto old = engine->begin(Isolation::repeatable_read);
  const auto rows_of_old = content(*old, tree);
  REQUIRE(rows_of_old.size() == kRows);
  std::vector<std::unique_ptr<Transaction>> later;
  std::vector<std::map<std::string, std::string>> rows_of_later;
  std::uint64_t most = 0;
  for (int i = 0; i < 6 * kRows; ++i) {
    const int number = i % kRows;
    const auto transaction = engine->begin();
    // Updates, removals and reinsertions, in the order of the rounds.
    if (number % 3 != 0 || i / kRows % 3 == 0) {
      const std::string value = "value " + std::to_string(i) + std::string(80, 'v');
      if (!table().update(*transaction, as_bytes(row(number)), as_bytes(value)).value())
        REQUIRE(table().insert(*transaction, as_bytes(row(number)), as_bytes(value)).value());
    } else if (i / kRows % 3 == 1) {
      REQUIRE(table().remove(*transaction, as_bytes(row(number))).value());
    } else {
      REQUIRE(table().insert(*transaction, as_bytes(row(number)), as_bytes("again")).value());
    }
    REQUIRE(transaction->commit(Transaction::Durability::synchronous));
    most = std::max(most, engine->statistics().version_bytes);
    if (i % (2 * kRows) != kRows / 2) continue;
    later.push_back(engine->begin(Isolation::repeatable_read));
    rows_of_later.push_back(content(*later.back(), tree));
  }
  const EngineStatistics now = engine->statistics();
  CHECK(most < kSmallStore + kSmallStore / 4);
  CHECK(now.snapshots_too_old == 0);
  CHECK(now.versions_spilled > 2 * kRows);
  CHECK(now.version_file_bytes > 0);
  CHECK(content(*old, tree) == rows_of_old);
  for (std::size_t i = 0; i < later.size(); ++i)
    CHECK(content(*later[i], tree) == rows_of_later[i]);
  for (int i = 0; i < kRows; i += 7) CHECK(value_for(*old, i) == old_value());
  // The newest version is there and can be changed.
  update(4, "newest");
  CHECK(get(tree, row(4)) == "newest");
  // An old snapshot must not overwrite a newer row.
  const auto late = table().update(*old, as_bytes(row(7)), as_bytes("lost"));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().state() == sqlstate::serialization_failure);
  CHECK(late.error().message() == "could not serialize access due to concurrent update");
  old->rollback();
  for (const auto& reader : later) reader->rollback();
  CHECK(store_becomes_empty());
  CHECK(files_become_empty());
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(VersionedRows,
                 "T8 of a row that changes all the time each snapshot keeps one version",
                 "[storage][isolation][spill]") {
  with(kSmallStore, 100'000, kMuchRoom);
  constexpr int kVersions = 40'000;
  const auto old = engine->begin(Isolation::repeatable_read);
  CHECK(value_for(*old, 1) == old_value());
  std::unique_ptr<Transaction> middle;
  const auto views = engine->begin();
  std::vector<HeldView> held;
  for (int i = 0; i < kVersions; ++i) {
    update(1, std::to_string(i), Transaction::Durability::asynchronous);
    if (i % 1024 == 0) REQUIRE(engine->checkpoint());
    if (i == kVersions / 2) {
      middle = engine->begin(Isolation::repeatable_read);
      CHECK(value_for(*middle, 1) == std::to_string(i));
    }
    // A transaction with several snapshots at once.
    if (i == kVersions / 4 || i == kVersions / 4 + 100 || i == kVersions / 4 + 200) {
      views->begin_statement();
      held.emplace_back(*views);
    }
  }
  const EngineStatistics now = engine->statistics();
  CHECK(now.snapshots_too_old == 0);
  CHECK(now.versions_unneeded > kVersions * 3 / 4);
  CHECK(now.version_file_bytes < std::uint64_t{4} << 20U);
  CHECK(value_for(*old, 1) == old_value());
  CHECK(value_for(*middle, 1) == std::to_string(kVersions / 2));
  for (int i = 0; i < 3; ++i) {
    const HeldView::Reading reading{held[static_cast<std::size_t>(i)]};
    CHECK(value_for(*views, 1) == std::to_string(kVersions / 4 + 100 * i));
  }
  held.clear();
  old->rollback();
  middle->rollback();
  views->rollback();
  CHECK(get(tree, row(1)) == std::to_string(kVersions - 1));
  CHECK(store_becomes_empty());
  CHECK(files_become_empty());
}

TEST_CASE_METHOD(VersionedRows, "T8 beyond the bound of files the oldest snapshot is too old",
                 "[storage][isolation][spill]") {
  constexpr std::uint64_t kFiles = std::uint64_t{1} << 20U;
  with(kSmallStore, 100'000, kFiles);
  const auto old = engine->begin(Isolation::repeatable_read);
  CHECK(value_for(*old, 5) == old_value());
  std::uint64_t most_in_files = 0;
  for (int i = 0; i < 40 * kRows && engine->statistics().snapshots_too_old == 0; ++i) {
    // Take a snapshot between every two rounds, so that all versions are needed.
    const auto between = i % kRows == 0 ? engine->begin(Isolation::repeatable_read) : nullptr;
    if (between) CHECK_FALSE(value_for(*between, 5).empty());
    update(i % kRows, "new " + std::to_string(i), Transaction::Durability::synchronous);
    const auto removing = engine->begin();
    REQUIRE(table().remove(*removing, as_bytes(row((i + 7) % kRows))).value());
    REQUIRE(table().insert(*removing, as_bytes(row((i + 7) % kRows)), as_bytes("again")).value());
    REQUIRE(removing->commit());
    most_in_files = std::max(most_in_files, engine->statistics().version_file_bytes);
  }
  CHECK(most_in_files > kFiles / 2);
  CHECK(most_in_files <= kFiles);
  REQUIRE(engine->statistics().snapshots_too_old == 1);
  ValueBuffer value;
  const auto point = table().get(*old, as_bytes(row(5)), value);
  REQUIRE_FALSE(point.has_value());
  CHECK(point.error().state() == sqlstate::snapshot_too_old);
  old->rollback();
  CHECK(store_becomes_empty());
  CHECK(files_become_empty());
}

TEST_CASE_METHOD(VersionedRows, "P37 many versions of one row are found, and freed one by one",
                 "[storage][isolation]") {
  with(std::uint64_t{1} << 30U);
  constexpr int kVersions = 60'000;
  const auto reader = engine->begin(Isolation::repeatable_read);
  CHECK(get(*reader, tree, row(1)) == old_value());
  for (int i = 0; i < kVersions; ++i) update(1, std::to_string(i));
  CHECK(get(*reader, tree, row(1)) == old_value());
  CHECK(get(tree, row(1)) == std::to_string(kVersions - 1));
  reader->rollback();
  CHECK(store_becomes_empty());
}

TEST_CASE_METHOD(VersionedRows,
                 "R-13 a ghost goes when the last snapshot that sees its record goes",
                 "[storage][isolation]") {
  with(std::uint64_t{1} << 30U);
  const auto reader = engine->begin(Isolation::repeatable_read);
  CHECK(content(*reader, tree).size() == kRows);
  {
    const auto deleter = engine->begin();
    for (int i = 0; i < kRows; i += 2) REQUIRE(table().remove(*deleter, as_bytes(row(i))).value());
    REQUIRE(deleter->commit());
  }
  CHECK(content(*reader, tree).size() == kRows);
  CHECK(get(*reader, tree, row(2)) == old_value());
  reader->rollback();
  CHECK(store_becomes_empty());
  const auto fresh = engine->begin();
  CHECK(content(*fresh, tree).size() == kRows / 2);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(VersionedRows,
                 "a serializable scan of much locks the tree, and writers wait for it",
                 "[storage][isolation]") {
  with(std::uint64_t{1} << 30U, 200);
  const auto reader = engine->begin(Isolation::serializable);
  CHECK(content(*reader, tree).size() == kRows);
  CHECK(engine->statistics().lock_escalations == 1);
  CHECK(engine->locks().size() < 300);
  const auto writer = engine->begin();
  writer->set_lock_timeout(std::chrono::milliseconds{20});
  const auto blocked = table().update(*writer, as_bytes(row(3)), as_bytes("no"));
  REQUIRE_FALSE(blocked.has_value());
  CHECK(blocked.error().state() == sqlstate::lock_not_available);
  const auto phantom = table().insert(*writer, as_bytes("row 10003a"), as_bytes("no"));
  REQUIRE_FALSE(phantom.has_value());
  CHECK(content(*reader, tree).size() == kRows);
  // Its own writes continue below its tree lock.
  CHECK(table().update(*reader, as_bytes(row(3)), as_bytes("mine")).value());
  REQUIRE(reader->commit());
  CHECK(table().update(*writer, as_bytes(row(3)), as_bytes("yes")).value());
  // With another writer in the tree the key locks stay.
  const auto other = engine->begin(Isolation::serializable);
  other->set_lock_timeout(std::chrono::milliseconds{20});
  ScanRange range;
  const std::string from = row(10);
  range.low = as_bytes(from);
  Cursor cursor = table().scan(*other, range).value();
  int seen = 0;
  while (cursor.next().value()) ++seen;
  CHECK(seen == kRows - 10);
  CHECK(engine->statistics().lock_escalations == 1);
  CHECK(engine->locks().size() > kRows);
}

TEST_CASE_METHOD(VersionedRows,
                 "P10 early release: what was read is durable before its reader is told",
                 "[storage][isolation]") {
  with(std::uint64_t{1} << 30U);
  // A serializable reader of a key whose writer has released it before its commit was durable.
  for (int i = 0; i < 200; ++i) {
    std::thread writer{[&] {
      const auto transaction = engine->begin();
      INVARIANT(
          table().update(*transaction, as_bytes(row(1)), as_bytes(std::to_string(i))).value());
      INVARIANT(transaction->commit().has_value());
    }};
    const auto reader = engine->begin(Isolation::serializable, Access::read_only);
    ValueBuffer value;
    REQUIRE(table().get(*reader, as_bytes(row(1)), value).value());
    const std::string seen{as_text(value.bytes())};
    REQUIRE(reader->commit());
    // A snapshot shows durable commits: a read after the acknowledgement sees at least that one.
    const auto after = get(tree, row(1));
    if (seen != old_value()) CHECK(std::stoi(*after) >= std::stoi(seen));
    writer.join();
  }
}

}  // namespace swizzle
