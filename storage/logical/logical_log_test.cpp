// Changes that transactions note in the log, and their delivery to a slot's reader.
#include "storage/logical/logical_log.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/testing/temporary_engine.h"

using namespace swizzle;
using namespace swizzle::testing;

namespace {

void change(TemporaryEngine& in, Transaction& in_transaction, TreeId tree, const std::string& key,
            const std::string& told) {
  REQUIRE(in.engine->tree(tree)
              .value()
              .insert(in_transaction, as_bytes(key), as_bytes("value"))
              .value());
  const Bytes part = as_bytes(told);
  REQUIRE(LogicalLog::note(in_transaction, std::span{&part, 1}));
}

/// Creates a slot whose reader gets the transactions that commit from now on.
Slot make_slot(TemporaryEngine& in, const std::string& name) {
  LogicalLog& log = in.engine->logical_log();
  Slot slot;
  slot.name = name;
  slot.plugin = "told";
  slot.holder = 1;
  REQUIRE(log.begin_slot(slot, 4, [] {}));
  REQUIRE(log.slots().complete(name, log.durable()));
  log.slots().release(name);
  return *log.slots().find(name);
}

std::vector<std::string> texts_of(ChangeBuffer& changes) {
  std::vector<std::string> texts;
  while (const auto next = changes.next().value()) texts.emplace_back(as_text(next->body));
  return texts;
}

using Told = std::vector<std::vector<std::string>>;

Told told_since(TemporaryEngine& in, const Slot& slot, ChangeReader::Options options = {}) {
  LogicalLog& log = in.engine->logical_log();
  log.flush();
  options.committed_from = slot.confirmed;
  const auto reader = log.read(slot.restart, options);
  Told all;
  do {
    while (auto committed = reader->next().value()) {
      CHECK(committed->committed_at_us != 0);
      CHECK(committed->commit < committed->end);
      all.push_back(texts_of(committed->changes));
    }
  } while (!reader->is_at_end());
  return all;
}

/// Spill files of a reader, in the test's directory.
class TestSpills final : public SpillFiles {
 public:
  explicit TestSpills(TemporaryEngine& in) : in_(in) {}
  Result<std::unique_ptr<Spill>> create() override {
    ++created;
    ASSIGN_OR_RETURN(auto file, in_.files->open(in_.directory / ("spill" + std::to_string(created)),
                                                OpenMode::create_new, {}));
    return std::make_unique<TestSpill>(std::move(file));
  }
  int created = 0;

 private:
  class TestSpill final : public Spill {
   public:
    explicit TestSpill(std::unique_ptr<File> file) : file_(std::move(file)) {}
    File& file() noexcept override { return *file_; }

   private:
    std::unique_ptr<File> file_;
  };
  TemporaryEngine& in_;
};

}  // namespace

TEST_CASE("Noted changes come by transactions in the order of their commits",
          "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  const auto first = in.engine->begin();
  const auto second = in.engine->begin();
  const auto third = in.engine->begin();
  change(in, *first, tree, "a", "first 1");
  change(in, *second, tree, "b", "second 1");
  change(in, *third, tree, "c", "third 1");
  change(in, *first, tree, "d", "first 2");
  REQUIRE(second->commit());
  third->rollback();
  REQUIRE(first->commit());
  CHECK(told_since(in, slot) == Told{{"second 1"}, {"first 1", "first 2"}});
}

TEST_CASE("What a savepoint takes back is not told", "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  const auto transaction = in.engine->begin();
  change(in, *transaction, tree, "a", "1");
  const auto outer = transaction->mark();
  change(in, *transaction, tree, "b", "2");
  const auto inner = transaction->mark();
  change(in, *transaction, tree, "c", "3");
  REQUIRE(transaction->rollback_to(inner));
  change(in, *transaction, tree, "d", "4");
  REQUIRE(transaction->rollback_to(outer));
  change(in, *transaction, tree, "e", "5");
  REQUIRE(transaction->commit());
  CHECK(told_since(in, slot) == Told{{"1", "5"}});
}

TEST_CASE("Large changes, and transactions larger than memory, are told whole",
          "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  const std::string large(900'000, 'x');
  std::vector<std::string> expected;
  const auto transaction = in.engine->begin();
  for (int i = 0; i < 300; ++i) {
    const std::string told = i == 150 ? large : "change " + std::to_string(i);
    change(in, *transaction, tree, "key " + std::to_string(i), told);
    expected.push_back(told);
  }
  // Roll back to before the part that is in a file.
  const auto mark = transaction->mark();
  for (int i = 300; i < 600; ++i)
    change(in, *transaction, tree, "key " + std::to_string(i), "not kept");
  REQUIRE(transaction->rollback_to(mark));
  change(in, *transaction, tree, "last", "last");
  expected.emplace_back("last");
  REQUIRE(transaction->commit());
  TestSpills spills(in);
  const Told told = told_since(in, slot, {.memory_bytes = 2000, .files = &spills});
  REQUIRE(told.size() == 1);
  CHECK(told.front() == expected);
  CHECK(spills.created == 1);
}

namespace {

/// Reads in parts, takes them back as told, and returns the transactions.
Told parts_since(TemporaryEngine& in, const Slot& slot, SpillFiles& spills) {
  using Event = DecodedChanges::Event;
  LogicalLog& log = in.engine->logical_log();
  log.flush();
  const auto reader = log.read(
      slot.restart,
      {.memory_bytes = 2000, .files = &spills, .committed_from = slot.confirmed, .streams = true});
  std::map<TxnId, std::map<std::uint32_t, std::vector<std::string>>> open;
  Told all;
  do {
    while (auto event = reader->next().value()) {
      auto& parts = open[event->id];
      switch (event->event) {
        case Event::part:
          CHECK(parts.emplace(event->part, texts_of(event->changes)).second);
          break;
        case Event::part_taken_back:
          CHECK(parts.contains(event->part));
          parts.erase(parts.find(event->part), parts.end());
          break;
        case Event::rolled_back:
          CHECK(event->part != 0);
          open.erase(event->id);
          break;
        default: {
          CHECK(event->event == Event::committed);
          parts[event->part] = texts_of(event->changes);
          std::vector<std::string>& whole = all.emplace_back();
          for (const auto& [number, texts] : parts)
            whole.insert(whole.end(), texts.begin(), texts.end());
          open.erase(event->id);
        }
      }
    }
  } while (!reader->is_at_end());
  CHECK(open.empty());
  return all;
}

}  // namespace

TEST_CASE("Large transactions in parts are what they are as a whole", "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  std::mt19937 random{23};
  int next = 0;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<Transaction>> writers;
    std::vector<std::vector<decltype(writers[0]->mark())>> marks(3);
    for (int i = 0; i < 3; ++i) writers.push_back(in.engine->begin());
    for (int step = 0; step < 200; ++step) {
      const auto who = random() % 3;
      Transaction& writer = *writers[who];
      const auto what = random() % 12;
      if (what == 0) {
        marks[who].push_back(writer.mark());
      } else if (what == 1 && !marks[who].empty()) {
        REQUIRE(writer.rollback_to(marks[who].back()));
        if (random() % 2 == 0) marks[who].pop_back();
      } else {
        const std::string text = "change " + std::to_string(++next);
        change(in, writer, tree, text, text + std::string(random() % 100, '.'));
      }
    }
    for (const auto& writer : writers) {
      if (random() % 4 == 0)
        writer->rollback();
      else
        REQUIRE(writer->commit());
    }
  }
  TestSpills spills(in);
  const Told whole = told_since(in, slot);
  CHECK(whole.size() > 15);
  CHECK(parts_since(in, slot, spills) == whole);
  CHECK(spills.created > 0);
}

TEST_CASE("Prepared transactions come when they are prepared, and once more to who has them",
          "[storage][logical]") {
  using Event = DecodedChanges::Event;
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  LogicalLog& log = in.engine->logical_log();
  const auto prepare = [&](const std::string& gid) {
    const auto transaction = in.engine->begin();
    change(in, *transaction, tree, gid, gid);
    REQUIRE(transaction->prepare(gid, {}, 4));
  };
  struct Seen {
    std::string events;
    Lsn needed;
  };
  const auto read = [&](Lsn from, Lsn committed_from, Lsn prepared_from) {
    log.flush();
    const auto reader =
        log.read(from, {.committed_from = committed_from, .prepared_from = prepared_from});
    Seen seen;
    do {
      while (auto event = reader->next().value()) {
        seen.events += event->event == Event::prepared               ? "prepare "
                       : event->event == Event::committed_prepared   ? "commit "
                       : event->event == Event::rolled_back_prepared ? "rollback "
                                                                     : "committed ";
        if (event->is_repeated) seen.events += "again ";
        seen.events += event->gid + "; ";
        if (event->event == Event::prepared)
          CHECK(texts_of(event->changes) == std::vector<std::string>{event->gid});
      }
    } while (!reader->is_at_end());
    seen.needed = reader->needed_from();
    return seen;
  };
  prepare("a");
  prepare("b");
  const Seen first = read(slot.restart, slot.confirmed, slot.confirmed);
  CHECK(first.events == "prepare a; prepare b; ");
  const Lsn confirmed = log.durable();
  REQUIRE(in.engine->take_prepared("a").value()->commit());
  in.engine->take_prepared("b").value()->rollback();
  prepare("c");
  // The log is kept from the changes of those that have not ended.
  CHECK(first.needed < confirmed);
  CHECK(read(first.needed, confirmed, slot.confirmed).events ==
        "prepare again a; prepare again b; commit a; rollback b; prepare c; ");
  // Those that were prepared before come when they commit.
  CHECK(read(slot.restart, slot.confirmed, log.durable()).events == "committed ; ");
  REQUIRE(log.slots().enable_two_phase("s", confirmed));
  REQUIRE(log.slots().enable_two_phase("s", log.durable()));
  in.crash();
  CHECK(in.engine->logical_log().slots().find("s")->two_phase_from == confirmed);
}

TEST_CASE("A slot outlives a crash and keeps the log for its reader", "[storage][logical][crash]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const Slot slot = make_slot(in, "s");
  {
    const auto prepared = in.engine->begin();
    change(in, *prepared, tree, "p", "prepared");
    REQUIRE(prepared->prepare("gid", as_bytes("note")));
  }
  Told expected;
  const std::string filler(200'000, 'f');
  for (int i = 0; i < 20; ++i) {
    const auto transaction = in.engine->begin();
    change(in, *transaction, tree, "key " + std::to_string(i), "change " + std::to_string(i));
    change(in, *transaction, tree, "filler " + std::to_string(i), filler);
    REQUIRE(transaction->commit());
    expected.push_back({"change " + std::to_string(i), filler});
    REQUIRE(in.engine->checkpoint());
  }
  auto lost = in.engine->begin();
  change(in, *lost, tree, "lost", "lost");
  in.engine->logical_log().flush();
  in.kill(std::move(lost));
  const auto found = in.engine->logical_log().slots().find("s");
  REQUIRE(found);
  CHECK(found->restart == slot.restart);
  CHECK(found->confirmed == slot.confirmed);
  REQUIRE(in.engine->take_prepared("gid").value()->commit());
  expected.push_back({"prepared"});
  CHECK(told_since(in, *found) == expected);
}

TEST_CASE("A slot that would keep too much log is lost, and its log goes", "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  make_slot(in, "s");
  LogicalLog& log = in.engine->logical_log();
  log.keep_at_most(std::uint64_t{2} << 20U);
  const std::string filler(200'000, 'f');
  for (int i = 0; i < 30; ++i) {
    const auto transaction = in.engine->begin();
    change(in, *transaction, tree, "key " + std::to_string(i), filler);
    REQUIRE(transaction->commit());
    REQUIRE(in.engine->checkpoint());
  }
  CHECK(log.slots().find("s")->is_lost);
  CHECK(log.kept_from() == Lsn::max);
  // Take a checkpoint, so that it holds for readers after a crash as well.
  REQUIRE(in.engine->checkpoint());
  in.crash();
  CHECK(in.engine->logical_log().slots().find("s")->is_lost);
}

TEST_CASE("Making a slot waits for whoever has written before", "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  LogicalLog& log = in.engine->logical_log();
  auto writer = in.engine->begin();
  change(in, *writer, tree, "a", "before");
  Slot slot;
  slot.name = "s";
  slot.holder = 1;
  int waits = 0;
  REQUIRE(log.begin_slot(slot, 4, [&] {
    if (++waits == 3) REQUIRE(writer->commit());
  }));
  CHECK(waits == 3);
  REQUIRE(log.slots().complete("s", log.durable()));
  CHECK(told_since(in, *log.slots().find("s")).empty());
}

TEST_CASE("Making a slot does not wait for who is prepared and has written nothing",
          "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  auto reader = in.engine->begin();
  REQUIRE(reader->prepare("read only", {}, 4));
  reader.reset();
  if (GENERATE(false, true)) in.crash();
  LogicalLog& log = in.engine->logical_log();
  Slot slot;
  slot.name = "s";
  slot.holder = 1;
  REQUIRE(log.begin_slot(slot, 4, [&] { FAIL("somebody is waited for"); }));
  auto writer = in.engine->begin();
  change(in, *writer, tree, "a", "told");
  REQUIRE(writer->prepare("writer", {}, 4));
  Slot other;
  other.name = "t";
  other.holder = 1;
  int waits = 0;
  REQUIRE(log.begin_slot(other, 4, [&] {
    if (++waits == 2) REQUIRE(in.engine->take_prepared("writer").value()->commit());
  }));
  CHECK(waits == 2);
}

TEST_CASE("Slots have one reader, one name and a bound", "[storage][logical]") {
  TemporaryEngine in;
  make_slot(in, "s");
  LogSlots& slots = in.engine->logical_log().slots();
  REQUIRE(slots.acquire("s", 7));
  CHECK(slots.acquire("s", 8).error().state() == sqlstate::object_in_use);
  CHECK(slots.drop("s", 8).error().state() == sqlstate::object_in_use);
  slots.release("s");
  Slot other;
  other.name = "s";
  CHECK(slots.reserve(other, 4).error().state().code() == "42710");
  other.name = "t";
  CHECK(slots.reserve(other, 1).error().state().code() == "53400");
  CHECK(slots.acquire("u", 1).error().state() == sqlstate::undefined_object);
  REQUIRE(slots.drop("s", 8));
  in.crash();
  CHECK(in.engine->logical_log().slots().list().empty());
}

TEST_CASE("A snapshot that another transaction adopts shows the same", "[storage][logical]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const auto write = [&](const std::string& key) {
    const auto transaction = in.engine->begin();
    change(in, *transaction, tree, key, key);
    REQUIRE(transaction->commit());
  };
  const auto sees = [&](Transaction& transaction, std::string_view key) {
    ValueBuffer value;
    return in.engine->tree(tree).value().get(transaction, as_bytes(key), value).value();
  };
  write("before");
  auto exporter = in.engine->begin(Isolation::repeatable_read);
  const ReadView view = LogicalLog::view_of(*exporter);
  write("after");
  const auto importer = in.engine->begin(Isolation::repeatable_read);
  LogicalLog::adopt_view(*importer, view);
  exporter.reset();
  write("later");
  importer->begin_statement();
  CHECK(sees(*importer, "before"));
  CHECK_FALSE(sees(*importer, "after"));
  CHECK_FALSE(sees(*importer, "later"));
}
