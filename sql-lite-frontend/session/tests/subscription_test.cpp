#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/tests/fake_publisher.h"

namespace swizzle::sql {
namespace {

using fake::Changes;
using fake::FakeDoor;
using fake::kRelation;
using fake::Script;
using fake::Subscriber;

}  // namespace

TEST_CASE("a worker applies a publisher's transactions", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  Changes& c = s.changes;
  c.begin(0x100);
  c.relation(kRelation, "t", 'd', {{"name", false}, {"id", true}});
  c.insert(kRelation, {"one", "1"});
  c.insert(kRelation, {std::nullopt, "2"});
  c.commit();
  c.begin(0x200);
  c.update(kRelation, {"uno", "1"});
  c.update(kRelation, 'K', {std::nullopt, "2"}, {"(unchanged)", "20"});
  c.insert(kRelation, {"three", "3"});
  c.remove(kRelation, 'K', {std::nullopt, "3"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id, name, extra FROM t ORDER BY id") ==
        std::vector<std::string>{"1|uno|default", "20|NULL|default"});
  CHECK(s.db.rows("SELECT remote_lsn FROM pg_replication_origin_status") ==
        std::vector<std::string>{"0/208"});
  // The next worker asks for what comes after.
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.script.asked.back() ==
        "START_REPLICATION SLOT s LOGICAL 0/208 (proto_version '2', publication_names '\"p\"', "
        "streaming 'on')");
}

TEST_CASE("rows that are not here are passed over, rows that are end the worker",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false, disable_on_error");
  s.db.run("INSERT INTO t VALUES (1, 'here')");
  Changes& c = s.changes;
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x100);
  c.update(kRelation, {"5", "x"});
  c.remove(kRelation, 'K', {"6", std::nullopt});
  c.insert(kRelation, {"7", "seven"});
  c.commit();
  c.begin(0x200);
  c.insert(kRelation, {"8", "eight"});
  c.insert(kRelation, {"1", "one"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::failed);
  CHECK(s.db.rows("SELECT id FROM t ORDER BY id") == std::vector<std::string>{"1", "7"});
  CHECK(s.db.rows("SELECT apply_error_count, confl_insert_exists, confl_update_missing, "
                  "confl_delete_missing FROM pg_stat_subscription_stats") ==
        std::vector<std::string>{"1|1|1|1"});
  CHECK(s.db.rows("SELECT subenabled FROM pg_subscription") == std::vector<std::string>{"f"});
  const std::string oid = s.db.rows("SELECT oid FROM pg_subscription")[0];
  const auto has_logged = [&](const std::string& line) {
    return std::ranges::find(s.script.log, line) != s.script.log.end();
  };
  for (const std::string& line : s.script.log) UNSCOPED_INFO(line);
  CHECK(
      has_logged("conflict detected on relation \"public.t\": conflict=update_missing | Could not "
                 "find the row to be updated: replica identity (id)=(5). | processing remote data "
                 "for replication origin \"pg_" +
                 oid +
                 "\" during message type \"UPDATE\" for replication target relation "
                 "\"public.t\" in transaction 77, finished at 0/100"));
  CHECK(
      has_logged("conflict detected on relation \"public.t\": conflict=insert_exists | Key already "
                 "exists in unique index \"t_pkey\".\nKey (id)=(1) already exists. | processing "
                 "remote data for replication origin \"pg_" +
                 oid +
                 "\" during message type \"INSERT\" for replication target relation "
                 "\"public.t\" in transaction 77, finished at 0/200"));
  CHECK(has_logged("subscription \"s\" has been disabled because of an error"));

  // The transaction is passed over, and what comes after it applied.
  CHECK(s.db.run("ALTER SUBSCRIPTION s SKIP (lsn = '0/200')") == "ALTER SUBSCRIPTION");
  CHECK(s.db.run("ALTER SUBSCRIPTION s ENABLE") == "ALTER SUBSCRIPTION");
  s.script.stream.clear();
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x200);
  c.insert(kRelation, {"1", "one"});
  c.commit();
  c.begin(0x300);
  c.insert(kRelation, {"9", "nine"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id FROM t ORDER BY id") == std::vector<std::string>{"1", "7", "9"});
  CHECK(s.db.rows("SELECT subskiplsn FROM pg_subscription") == std::vector<std::string>{"0/0"});
}

TEST_CASE("SKIP of a transaction that does not come is cleared by the next one",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  s.db.run("ALTER SUBSCRIPTION s SKIP (lsn = '0/200')");
  Changes& c = s.changes;
  c.relation(kRelation, "t", 'd', {{"id", true}});
  for (const std::uint64_t at : {0x100U, 0x200U}) {
    c.begin(at);
    c.insert(kRelation, {std::to_string(at)});
    c.commit();
  }
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id FROM t ORDER BY id") == std::vector<std::string>{"256", "512"});
  CHECK(s.db.rows("SELECT subskiplsn FROM pg_subscription") == std::vector<std::string>{"0/0"});
  CHECK(std::ranges::any_of(s.script.log, [](const std::string& line) {
    return line.starts_with(
        "skip-LSN of subscription \"s\" cleared | Remote transaction's finish "
        "WAL location (LSN) 0/100 did not match skip-LSN 0/200.");
  }));
}

TEST_CASE("a table without a key is followed by whole rows", "[sql][subscriptions]") {
  Subscriber s;
  s.db.run("CREATE TABLE bare (a int, b text)");
  s.script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "bare", std::nullopt}};
  s.subscribe("copy_data = false");
  s.db.run("INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (2, NULL)");
  Changes& c = s.changes;
  c.relation(kRelation, "bare", 'f', {{"a", true}, {"b", true}});
  c.begin(0x100);
  c.remove(kRelation, 'O', {"1", "x"});
  c.update(kRelation, 'O', {"2", std::nullopt}, {"2", "y"});
  c.remove(kRelation, 'O', {"3", std::nullopt});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT a, b FROM bare ORDER BY a") == std::vector<std::string>{"1|x", "2|y"});
}

namespace {

/// The worker that copies table `t`, on a thread of its own, with a publisher of its own.
class Copier {
 public:
  explicit Copier(Subscriber& subscriber) : subscriber_(subscriber) {
    job_ = subscriber.job();
    ++job_.pid;
    job_.table = static_cast<std::uint32_t>(std::stoul(subscriber.db.rows(
        "SELECT srrelid::int8 FROM pg_subscription_rel WHERE srsubstate = 'i'")[0]));
    slot = "pg_" + std::to_string(job_.subscription) + "_sync_" + std::to_string(job_.table);
  }
  /// Waits until it has copied the rows.
  void start() {
    thread_ = std::thread{[this] {
      FakeDoor own{script};
      end_ = run_apply_worker(subscriber_.db.database(), own, job_);
    }};
    for (int i = 0; i < 3000 && state() != "f"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    CHECK(state() == "f");
  }
  ApplyEnd end() {
    thread_.join();
    return end_;
  }
  std::string state() {
    return subscriber_.db.rows("SELECT srsubstate FROM pg_subscription_rel WHERE srrelid = " +
                               std::to_string(job_.table))[0];
  }
  [[nodiscard]] bool has_asked(const std::string& beginning) const {
    return std::ranges::any_of(script.asked,
                               [&](const std::string& one) { return one.starts_with(beginning); });
  }

  Script script;
  std::string slot;

 private:
  Subscriber& subscriber_;
  ApplyJob job_;
  ApplyEnd end_ = ApplyEnd::failed;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a table is copied first, and its changes are applied from there on",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = true");
  Copier copier{s};
  Subscriber::offer_copy(copier.script);
  copier.start();
  CHECK(copier.has_asked("CREATE_REPLICATION_SLOT " + copier.slot));
  Changes& c = s.changes;
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x100);
  c.insert(kRelation, {"1", "one"});  // in the copy already
  c.commit();
  c.begin(0x150);
  c.insert(kRelation, {"3", "three"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(copier.end() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id, name FROM t ORDER BY id") ==
        std::vector<std::string>{"1|one", "2|NULL", "3|three"});
  CHECK(copier.script.asked.back().starts_with("DROP_REPLICATION_SLOT " + copier.slot));
  CHECK(s.db.rows("SELECT srsubstate, srsublsn FROM pg_subscription_rel") ==
        std::vector<std::string>{"s|0/150"});
}

TEST_CASE("a copy catches up with changes that the subscription has already passed",
          "[sql][subscriptions]") {
  Subscriber s;
  s.db.run("CREATE TABLE other (id int PRIMARY KEY)");
  s.script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "other", std::nullopt}};
  s.subscribe("copy_data = false");
  s.script.answers["SELECT DISTINCT t.schemaname"].push_back({"public", "t", std::nullopt});
  CHECK(s.db.run("ALTER SUBSCRIPTION s REFRESH PUBLICATION") == "ALTER SUBSCRIPTION");
  const auto send_both = [](Changes& to) {
    to.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
    to.relation(kRelation + 1, "other", 'd', {{"id", true}});
    to.begin(0x150);
    to.insert(kRelation, {"3", "three"});
    to.insert(kRelation + 1, {"1"});
    to.commit();
    to.begin(0x200);
    to.insert(kRelation, {"4", "four"});
    to.insert(kRelation + 1, {"2"});
    to.commit();
  };
  send_both(s.changes);
  CHECK(s.follow() == ApplyEnd::over);
  Copier copier{s};
  Subscriber::offer_copy(copier.script);
  Changes caught{copier.script};
  send_both(caught);
  caught.keepalive(0x208);
  caught.begin(0x208);  // beyond what it is to apply
  caught.insert(kRelation, {"5", "five"});
  caught.commit();
  copier.start();
  s.changes.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  s.changes.begin(0x208);
  s.changes.insert(kRelation, {"5", "five"});
  s.changes.commit();
  s.changes.keepalive(0x210);
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(copier.end() == ApplyEnd::over);
  CHECK(copier.has_asked("START_REPLICATION SLOT " + copier.slot));
  CHECK(s.db.rows("SELECT id, name FROM t ORDER BY id") ==
        std::vector<std::string>{"1|one", "2|NULL", "3|three", "4|four", "5|five"});
  CHECK(s.db.rows("SELECT id FROM other ORDER BY id") == std::vector<std::string>{"1", "2"});
  CHECK(s.db.rows("SELECT srsublsn FROM pg_subscription_rel WHERE srrelid = 't'::regclass") ==
        std::vector<std::string>{"0/208"});
}

TEST_CASE("a table is ready with the position that it is ready at", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = true");
  Copier copier{s};
  Subscriber::offer_copy(copier.script);
  copier.start();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(copier.end() == ApplyEnd::over);
  CHECK(copier.state() == "s");
  // Nothing but what the copy has: no transaction brings the position.
  s.changes.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  s.changes.begin(0x100);
  s.changes.insert(kRelation, {"1", "one"});
  s.changes.commit();
  s.changes.keepalive(0x200);
  s.changes.pause();
  s.changes.pause();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(copier.state() == "r");
  CHECK(s.db.rows("SELECT remote_lsn FROM pg_replication_origin_status") ==
        std::vector<std::string>{"0/200"});
}

TEST_CASE("damaged messages of a publisher end the worker, not the server",
          "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  std::vector<std::string> whole;
  s.changes.begin(0x100);
  s.changes.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  s.changes.insert(kRelation, {"1", "one"});
  whole.assign(s.script.stream.begin(), s.script.stream.end());
  constexpr std::size_t kEnvelope = 25;
  for (std::size_t which = 0; which < whole.size(); ++which) {
    for (std::size_t size = 0; size < whole[which].size(); ++size) {
      if (size == 0 || size == kEnvelope) continue;
      INFO(which << " cut to " << size);
      s.script.stream.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(which));
      s.script.stream.push_back(whole[which].substr(0, size));
      CHECK(s.follow() == ApplyEnd::failed);
    }
  }
  CHECK(s.db.rows("SELECT count(*) FROM t") == std::vector<std::string>{"0"});
}

TEST_CASE("changes are made by the table's owner, or by the subscription's",
          "[sql][subscriptions]") {
  Subscriber s;
  s.db.run(
      "CREATE ROLE keeper; ALTER TABLE t OWNER TO keeper; CREATE TABLE by (who text); GRANT "
      "INSERT ON by TO keeper");
  s.db.run(
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
      "public.by VALUES (current_user || ' ' || TG_WHEN); RETURN NEW; END $$");
  s.db.run(
      "CREATE TRIGGER always AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note(); ALTER "
      "TABLE t ENABLE ALWAYS TRIGGER always; CREATE TRIGGER usual BEFORE INSERT ON t FOR EACH "
      "ROW EXECUTE FUNCTION note()");
  s.subscribe("copy_data = false");
  const auto insert = [&](std::uint64_t at, const std::string& id) {
    s.changes.relation(kRelation, "t", 'd', {{"id", true}});
    s.changes.begin(at);
    s.changes.insert(kRelation, {id});
    s.changes.commit();
    CHECK(s.follow() == ApplyEnd::over);
  };
  insert(0x100, "1");
  s.db.run("ALTER SUBSCRIPTION s SET (run_as_owner = true)");
  insert(0x200, "2");
  for (const std::string& line : s.script.log) UNSCOPED_INFO(line);
  CHECK(s.db.rows("SELECT who FROM by") ==
        std::vector<std::string>{"keeper AFTER", "postgres AFTER"});
  s.db.run(
      "ALTER SUBSCRIPTION s SET (run_as_owner = false); ALTER TABLE t ENABLE ROW LEVEL "
      "SECURITY, FORCE ROW LEVEL SECURITY");
  s.changes.relation(kRelation, "t", 'd', {{"id", true}});
  s.changes.begin(0x300);
  s.changes.insert(kRelation, {"3"});
  CHECK(s.follow() == ApplyEnd::failed);
  CHECK(
      s.script.log.back().starts_with("user \"keeper\" cannot replicate into relation with "
                                      "row-level security enabled: \"t\""));
}

TEST_CASE("identity columns GENERATED ALWAYS keep their values", "[sql][subscriptions]") {
  Subscriber s;
  s.db.run(
      "CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int GENERATED "
      "ALWAYS AS IDENTITY, v text)");
  s.script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "made", std::nullopt}};
  s.subscribe("copy_data = false");
  Changes& c = s.changes;
  c.relation(kRelation, "made", 'd', {{"id", true}, {"n", false}, {"v", false}});
  c.begin(0x100);
  c.insert(kRelation, {"10", "20", "a"});
  c.update(kRelation, {"10", "20", "b"});
  c.update(kRelation, {"11", "20", "missing"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT * FROM made") == std::vector<std::string>{"10|20|b"});
  CHECK(s.db.rows("SELECT confl_update_missing FROM pg_stat_subscription_stats") ==
        std::vector<std::string>{"1"});
  c.relation(kRelation, "made", 'd', {{"id", true}, {"n", false}, {"v", false}});
  c.begin(0x200);
  c.update(kRelation, {"10", "21", "c"});
  CHECK(s.follow() == ApplyEnd::failed);
  CHECK(
      s.script.log.back().starts_with("replicating an update of the identity column \"id\" of "
                                      "relation \"public.made\", which is GENERATED ALWAYS"));
}

TEST_CASE("a table that does not fit ends the worker", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = false");
  const auto error = [&](const std::string& table, char identity,
                         const std::vector<std::pair<std::string, bool>>& columns) {
    s.script.stream.clear();
    s.changes.relation(kRelation, table, identity, columns);
    s.changes.begin(0x100);
    Changes::Row row(columns.size());
    row[0] = "1";
    s.changes.remove(kRelation, 'K', row);
    CHECK(s.follow() == ApplyEnd::failed);
    return s.script.log.back().substr(0, s.script.log.back().find(" | "));
  };
  CHECK(error("nowhere", 'd', {{"id", true}}) ==
        "logical replication target relation \"public.nowhere\" does not exist");
  CHECK(error("t", 'd', {{"id", true}, {"more", false}, {"yet", false}}) ==
        "logical replication target relation \"public.t\" is missing replicated columns: "
        "\"more\", \"yet\"");
  CHECK(error("t", 'd', {{"name", true}}) ==
        "publisher did not send replica identity column expected by the logical replication "
        "target relation \"public.t\"");
  s.db.run("ALTER TABLE t DROP CONSTRAINT t_pkey");
  CHECK(error("t", 'd', {{"id", true}}) ==
        "logical replication target relation \"public.t\" has neither REPLICA IDENTITY index nor "
        "PRIMARY KEY and published relation does not have REPLICA IDENTITY FULL");
}

TEST_CASE("publications and slots are made and dropped at the publisher", "[sql][subscriptions]") {
  Subscriber s;
  CHECK(s.db.run("CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p, q") == "CREATE SUBSCRIPTION");
  CHECK(s.script.asked.back() == "CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'nothing')");
  CHECK(s.db.rows("SELECT srrelid::regclass, srsubstate FROM pg_subscription_rel") ==
        std::vector<std::string>{"t|i"});
  s.db.run("CREATE TABLE u (id int PRIMARY KEY)");
  s.script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "u", std::nullopt}};
  CHECK(s.db.run("ALTER SUBSCRIPTION s REFRESH PUBLICATION WITH (copy_data = false)") ==
        "ALTER SUBSCRIPTION");
  CHECK(s.db.rows("SELECT srrelid::regclass, srsubstate FROM pg_subscription_rel") ==
        std::vector<std::string>{"u|r"});
  s.db.run("DROP TABLE u");
  CHECK(s.db.rows("SELECT count(*) FROM pg_subscription_rel") == std::vector<std::string>{"0"});
  CHECK(s.db.run("DROP SUBSCRIPTION s") == "DROP SUBSCRIPTION");
  CHECK(s.script.asked.back() == "DROP_REPLICATION_SLOT s WAIT");
  CHECK(s.db.rows("SELECT count(*) FROM pg_subscription") == std::vector<std::string>{"0"});
}

}  // namespace swizzle::sql
