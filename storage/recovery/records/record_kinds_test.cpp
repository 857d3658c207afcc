#include "storage/recovery/records/record_kinds.h"

#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "storage/recovery/test_workload.h"

using namespace swizzle;
using namespace swizzle::test;
using Catch::Contains;

TEST_CASE("every kind of record is whole: a name, and redo where it changes a page",
          "[recovery][kinds]") {
  std::set<std::string_view> names;
  for (const RecordKindEntry& entry : record_kinds()) {
    CAPTURE(entry.name);
    REQUIRE(names.insert(entry.name).second);
    const bool changes =
        entry.effects.page == PageEffect::change || entry.effects.page2 == PageEffect::change;
    REQUIRE(changes == (entry.redo != nullptr));
    REQUIRE(find_kind(static_cast<wal::RecordKind>(entry.kind)) == &entry);
    if (entry.undo != nullptr) REQUIRE_FALSE(entry.undo(Bytes{}));
  }
  REQUIRE(find_kind(wal::RecordKind{255}) == nullptr);
  wal::RecordHeader unknown;
  unknown.kind = wal::RecordKind{255};
  REQUIRE(effects_of(unknown).error().state() == sqlstate::data_corrupted);
}

TEST_CASE("waldump names and describes everything that a workload logs", "[recovery][kinds]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  Oracle oracle;
  Simulation simulation{11};
  simulation.run([&] {
    Random random{11};
    TestEngine engine(disk, {});
    REQUIRE(engine.open());
    const Checkpointer::Retention keep(*engine.checkpointer);
    for (int i = 0; i < 300; ++i) run_transaction(engine, random, oracle);
    engine.begin();
    static_cast<void>(engine.apply(LeafChange::Action::remove, "key/never"));
    REQUIRE(engine.apply(LeafChange::Action::insert, "readable", "first value"));
    REQUIRE(engine.apply(LeafChange::Action::update, "readable", "other value"));
    engine.rollback();
    engine.log->flush_to(engine.log->tail());

    const wal::RecordKinds kinds = kinds_for_people();
    wal::Reader reader = engine.log->reader();
    reader.seek(engine.log->begin());
    std::set<RecordKind> seen;
    std::string all;
    while (const auto record = reader.next().value()) {
      const std::string line = kinds.describe(*record);
      CAPTURE(line);
      REQUIRE_THAT(line, !Contains("malformed") && !Contains("kind "));
      if (record->header.kind >= wal::RecordKind::first_for_storage)
        seen.insert(kind_of(record->header));
      all += line + "\n";
    }
    REQUIRE(seen.size() >= 8);
    REQUIRE_THAT(all, Contains("leaf_insert") && Contains("key='readable' value='first value'"));
    REQUIRE_THAT(all, Contains("leaf_update") && Contains("'first' -> 'other'"));
    REQUIRE_THAT(all, Contains("compensation: key='readable' at 0: 'other' -> 'first'"));
    REQUIRE_THAT(all, Contains("node_split") && Contains("image of page"));
    REQUIRE_THAT(all, Contains("transaction_committed") && Contains(" UTC"));
    REQUIRE(engine.close());
  });
}

// Bytes that swizzle did not write must neither crash the tool nor be described as valid.
TEST_CASE("descriptions survive any payload", "[recovery][kinds]") {
  Random random{5};
  const wal::RecordKinds kinds = kinds_for_people();
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> payload(random.below(random.one_in(3) ? 300 : 24));
    for (std::byte& byte : payload) byte = std::byte{static_cast<std::uint8_t>(random.below(256))};
    wal::Record record;
    record.header.kind = wal::RecordKind{
        std::to_underlying(record_kinds()[random.below(record_kinds().size())].kind)};
    record.payload = payload;
    REQUIRE_FALSE(kinds.describe(record).empty());
  }
}
