#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "sql-lite-frontend/session/tests/fake_publisher.h"

namespace swizzle::sql {
namespace {

using fake::Changes;
using fake::kRelation;
using fake::Subscriber;
using Part = fake::Changes::Part;

/// A subscriber that may prepare transactions.
struct PreparingSubscriber : Subscriber {
  PreparingSubscriber() {
    REQUIRE(db.database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                         SettingSource::command_line));
    subscribe("copy_data = false, two_phase = true");
  }
  std::string gid(std::uint32_t transaction) {
    return "pg_gid_" + db.rows("SELECT oid FROM pg_subscription")[0] + "_" +
           std::to_string(transaction);
  }
  std::vector<std::string> prepared() {
    return db.rows("SELECT gid FROM pg_prepared_xacts ORDER BY gid");
  }
  std::string position() {
    return db.rows("SELECT remote_lsn FROM pg_replication_origin_status")[0];
  }
  void describe() { changes.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}}); }
};

std::string row_count(Subscriber& s) {
  return s.db.rows("SELECT count(*) FROM t")[0];
}

}  // namespace

TEST_CASE("transactions that come before they commit are applied when they do",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false, streaming = on");
  Changes& c = s.changes;
  constexpr std::uint32_t kFirst = 100;
  constexpr std::uint32_t kSecond = 200;
  c.start_stream(kFirst, Part::first);
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.insert(kRelation, {"1", "one"});
  c.stop_stream();
  // Another one within it, which rolls back.
  c.start_stream(kSecond, Part::first);
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.insert(kRelation, {"2", "never"});
  c.stop_stream();
  c.start_stream(kFirst, Part::later);
  c.insert(kRelation, {"3", "three"});
  c.stop_stream();
  c.abort_stream(kSecond, kSecond);
  c.begin(0x150);
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.insert(kRelation, {"4", "four"});
  c.commit();
  c.commit_stream(kFirst, 0x200);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id, name FROM t ORDER BY id") ==
        std::vector<std::string>{"1|one", "3|three", "4|four"});
  CHECK(s.db.rows("SELECT remote_lsn FROM pg_replication_origin_status") ==
        std::vector<std::string>{"0/208"});
  CHECK(s.script.asked.back() ==
        "START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '2', publication_names '\"p\"', "
        "streaming 'on')");
}

TEST_CASE("a streamed transaction can be passed over", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  s.db.run("ALTER SUBSCRIPTION s SKIP (lsn = '0/200')");
  Changes& c = s.changes;
  c.start_stream(100, Part::first);
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.insert(kRelation, {"1", "one"});
  c.stop_stream();
  c.commit_stream(100, 0x200);
  c.begin(0x300);
  c.insert(kRelation, {"2", "two"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id FROM t") == std::vector<std::string>{"2"});
  CHECK(s.db.rows("SELECT subskiplsn FROM pg_subscription") == std::vector<std::string>{"0/0"});
}

TEST_CASE("subtransactions that roll back leave nothing, beyond what memory keeps",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  Changes& c = s.changes;
  constexpr std::uint32_t kTransaction = 1000;
  std::mt19937 random{5};
  const std::string pad(40'000, 'x');
  std::uint64_t commit = 0x1000;
  std::set<int> expected;
  for (int turn = 0; turn < 5; ++turn) {
    // Subtransactions that are open, each within the one before, and how many rows there were.
    std::vector<std::pair<std::uint32_t, std::vector<int>>> open{{kTransaction, {}}};
    std::uint32_t next = kTransaction + 1;
    int id = turn * 1000;
    for (int step = 0; step < 60; ++step) {
      c.start_stream(kTransaction, step == 0 ? Part::first : Part::later, open.back().first);
      if (step == 0) c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
      for (auto rows = random() % 5; rows > 0; --rows) {
        c.insert(kRelation, {std::to_string(++id), pad});
        open.back().second.push_back(id);
      }
      c.stop_stream();
      const auto what = random() % 3;
      if (what == 0) {
        open.push_back({next++, {}});
      } else if (what == 1 && open.size() > 1) {
        c.abort_stream(kTransaction, open.back().first);
        open.pop_back();
      } else if (what == 2 && open.size() > 1) {
        // Released: the rows are those of the one around it.
        const std::vector<int> rows = open.back().second;
        open.pop_back();
        open.back().second.insert(open.back().second.end(), rows.begin(), rows.end());
      }
    }
    c.commit_stream(kTransaction, commit);
    commit += 0x100;
    for (const auto& [subtransaction, rows] : open) expected.insert(rows.begin(), rows.end());
  }
  CHECK(s.follow() == ApplyEnd::over);
  std::vector<std::string> wanted;
  for (const int id : expected) wanted.push_back(std::to_string(id));
  CHECK(s.db.rows("SELECT id FROM t ORDER BY id") == wanted);
  CHECK(s.db.rows("SELECT count(*) FROM t WHERE length(name) <> 40000") ==
        std::vector<std::string>{"0"});
}

TEST_CASE("damaged streams end the worker, not the server", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  Changes& c = s.changes;
  const auto fails = [&](const std::string& error) {
    CHECK(s.follow() == ApplyEnd::failed);
    CHECK(s.script.log.back().starts_with(error));
    s.script.stream.clear();
    c.reset();
  };
  c.stop_stream();
  fails("STREAM STOP message without STREAM START");
  c.start_stream(1, Part::later);
  fails("the beginning of streamed transaction 1 is missing");
  c.start_stream(1, Part::first);
  c.start_stream(2, Part::first);
  fails("logical replication message type \"S\" within a transaction");
  c.commit_stream(1, 0x100);
  fails("streamed transaction 1 has not begun");
  c.start_stream(1, Part::first);
  c.send("C");
  fails("invalid logical replication message type \"C\" in a streamed transaction");
  c.begin(0x100);
  c.commit_stream(1, 0x100);
  fails("logical replication message type \"c\" within a transaction");
  // Cut off, within what was kept.
  c.start_stream(1, Part::first);
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.insert(kRelation, {"1", "one"});
  c.stop_stream();
  s.script.stream[2].resize(s.script.stream[2].size() - 1);
  c.commit_stream(1, 0x100);
  fails("insufficient data left in message");
  CHECK(row_count(s) == "0");
}

TEST_CASE("a publisher's prepared transactions are prepared here", "[sql][subscriptions]") {
  PreparingSubscriber s;
  Changes& c = s.changes;
  CHECK(s.db.rows("SELECT subtwophasestate FROM pg_subscription") == std::vector<std::string>{"p"});
  s.describe();
  c.begin_prepare(10, 0x100);
  c.insert(kRelation, {"1", "one"});
  c.prepare('P', 10, 0x100);
  c.begin_prepare(20, 0x200);
  c.insert(kRelation, {"2", "two"});
  c.prepare('P', 20, 0x200);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.script.asked.back() ==
        "START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '3', publication_names '\"p\"', "
        "streaming 'on', two_phase 'on')");
  CHECK(s.db.rows("SELECT subtwophasestate FROM pg_subscription") == std::vector<std::string>{"e"});
  CHECK(s.prepared() == std::vector<std::string>{s.gid(10), s.gid(20)});
  CHECK(row_count(s) == "0");
  CHECK(s.position() == "0/208");
  // Other transactions go on beside them.
  s.describe();
  c.begin(0x280);
  c.insert(kRelation, {"9", "nine"});
  c.commit();
  c.prepare('K', 10, 0x300);
  c.rollback_prepared(20, 0x400);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.prepared().empty());
  CHECK(s.db.rows("SELECT id FROM t ORDER BY id") == std::vector<std::string>{"1", "9"});
  CHECK(s.position() == "0/408");
}

TEST_CASE("a prepared transaction that comes again after a crash is prepared once",
          "[sql][subscriptions]") {
  PreparingSubscriber s;
  Changes& c = s.changes;
  const auto send_prepare = [&] {
    s.describe();
    c.begin_prepare(10, 0x100);
    c.insert(kRelation, {"1", "one"});
    c.prepare('P', 10, 0x100);
  };
  send_prepare();
  CHECK(s.follow() == ApplyEnd::over);
  // As if the position had not been stored.
  send_prepare();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.prepared() == std::vector<std::string>{s.gid(10)});
  // Its commit here, and then the crash.
  CHECK(s.db.run("COMMIT PREPARED '" + s.gid(10) + "'") == "COMMIT PREPARED");
  c.prepare('K', 10, 0x200);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(row_count(s) == "1");
  CHECK(s.position() == "0/208");
  // One that was not prepared here cannot be committed, but it may have been rolled back.
  c.rollback_prepared(30, 0x300);
  c.prepare('K', 20, 0x400);
  CHECK(s.follow() == ApplyEnd::failed);
  CHECK(s.script.log.back().starts_with("prepared transaction with identifier \"" + s.gid(20) +
                                        "\" does not exist"));
  CHECK(s.position() == "0/308");
}

TEST_CASE("a prepared transaction may be streamed, be empty, or be passed over",
          "[sql][subscriptions]") {
  PreparingSubscriber s;
  Changes& c = s.changes;
  c.start_stream(10, Part::first);
  s.describe();
  c.insert(kRelation, {"1", "one"});
  c.stop_stream();
  c.prepare('p', 10, 0x100);
  c.begin_prepare(20, 0x200);
  c.prepare('P', 20, 0x200);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.prepared() == std::vector<std::string>{s.gid(10), s.gid(20)});
  s.db.run("ALTER SUBSCRIPTION s SKIP (lsn = '0/300')");
  s.describe();
  c.begin_prepare(30, 0x300);
  c.insert(kRelation, {"3", "three"});
  c.prepare('P', 30, 0x300);
  c.prepare('K', 10, 0x400);
  c.prepare('K', 20, 0x410);
  c.prepare('K', 30, 0x420);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.prepared().empty());
  CHECK(s.db.rows("SELECT id FROM t") == std::vector<std::string>{"1"});
  CHECK(s.db.rows("SELECT subskiplsn FROM pg_subscription") == std::vector<std::string>{"0/0"});
}

TEST_CASE("values come in their binary form", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false, binary = true");
  Changes& c = s.changes;
  const auto number = [](std::uint32_t value) {
    std::string out{Changes::kBinary};
    put_number(out, value);
    return out;
  };
  const std::string one = number(1);
  const std::string text = std::string{Changes::kBinary} + "one";
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x100);
  c.insert(kRelation, {one, text});
  c.insert(kRelation, {"2", text});  // both forms in one row
  c.update(kRelation, {one, std::string{Changes::kBinary} + "uno"});
  c.update(kRelation, {number(7), text});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.script.asked.back().ends_with("streaming 'on', binary 'true')"));
  CHECK(s.db.rows("SELECT id, name FROM t ORDER BY id") ==
        std::vector<std::string>{"1|uno", "2|one"});
  CHECK(std::ranges::any_of(s.script.log, [](const std::string& line) {
    return line.find("Could not find the row to be updated: replica identity (id)=(7).") !=
           std::string::npos;
  }));
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x200);
  c.insert(kRelation, {std::string{Changes::kBinary} + "123", text});
  CHECK(s.follow() == ApplyEnd::failed);
}

TEST_CASE("what remains refused of subscriptions says so", "[sql][subscriptions]") {
  Subscriber s;
  const auto create = [&](const std::string& option) {
    return s.db.run("CREATE SUBSCRIPTION x CONNECTION 'x' PUBLICATION p WITH (" + option + ")");
  };
  CHECK(create("failover = true") ==
        "0A000 subscription parameter \"failover\" with the value \"true\" is not supported");
  s.subscribe("copy_data = false, enabled = false");
  CHECK(s.db.run("ALTER SUBSCRIPTION s SET (two_phase = true)") ==
        "0A000 changing the option \"two_phase\" of a subscription is not supported");
  CHECK(s.db.run("ALTER SUBSCRIPTION s SET (binary = true, streaming = off)") ==
        "ALTER SUBSCRIPTION");
  CHECK(s.db.rows("SELECT subbinary, substream, subtwophasestate FROM pg_subscription") ==
        std::vector<std::string>{"t|f|d"});
}

}  // namespace swizzle::sql
