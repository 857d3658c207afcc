#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <utility>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/replication/big_endian_text.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

/// Answers of a publisher: rows by the beginning of the question, and a stream.
struct Script {
  std::map<std::string, std::vector<PublisherLink::Row>> answers;
  std::deque<std::string> stream;             ///< messages after START_REPLICATION
  std::map<std::string, std::string> copies;  ///< text of COPY, by its beginning
  std::vector<std::string> asked;
  std::vector<std::string> log;
};

class FakeLink final : public PublisherLink {
 public:
  FakeLink(Script& script, PublisherDoor& door) : script_(script), door_(door) {}

  Result<std::vector<Row>> ask(const std::string& statement) override {
    script_.asked.push_back(statement);
    for (const auto& [beginning, rows] : script_.answers)
      if (statement.starts_with(beginning)) return rows;
    return std::vector<Row>{};
  }
  Result<> start(const std::string& statement) override {
    script_.asked.push_back(statement);
    is_copy_ = statement.starts_with("COPY");
    if (!is_copy_) return {};
    for (const auto& [beginning, text] : script_.copies)
      if (statement.starts_with(beginning)) copy_ = text;
    return {};
  }
  Result<Received> receive(Duration /*longest*/) override {
    if (is_copy_) {
      now_ = std::exchange(copy_, {});
      if (now_.empty()) return Received{Arrival::end, {}};
      return Received{Arrival::message, as_bytes(now_)};
    }
    if (script_.stream.empty()) {
      // The test has said all.
      door_.stop();
      return Received{};
    }
    now_ = std::move(script_.stream.front());
    script_.stream.pop_front();
    return Received{Arrival::message, as_bytes(now_)};
  }
  Result<> send(Bytes /*message*/) override { return {}; }
  [[nodiscard]] int version() const override { return 150'000; }

 private:
  Script& script_;
  PublisherDoor& door_;
  bool is_copy_ = false;
  std::string copy_;
  std::string now_;
};

class FakeDoor final : public PublisherDoor {
 public:
  explicit FakeDoor(Script& script) : script_(script) {}
  Result<std::unique_ptr<PublisherLink>> connect(const PublisherTarget& /*target*/) override {
    return std::unique_ptr<PublisherLink>{std::make_unique<FakeLink>(script_, *this)};
  }
  Result<> check(const std::string& /*conninfo*/, bool /*must_have_password*/) override {
    return {};
  }
  void stop() noexcept override { is_stopping_ = true; }
  [[nodiscard]] bool is_stopping() const noexcept override { return is_stopping_; }
  void log(const Diagnostic& diagnostic) override {
    std::string line = diagnostic.message;
    for (const std::string& more : {diagnostic.detail, diagnostic.where})
      if (!more.empty()) line += " | " + more;
    script_.log.push_back(std::move(line));
  }

 private:
  Script& script_;
  bool is_stopping_ = false;
};

/// Messages of pgoutput, each in an envelope of the stream.
class Changes {
 public:
  explicit Changes(Script& script) : script_(script) {}

  void relation(std::uint32_t id, const std::string& name, char identity,
                const std::vector<std::pair<std::string, bool>>& columns) {
    std::string out{"R"};
    put_number(out, id);
    put_string(out, "public");
    put_string(out, name);
    out += identity;
    put_number(out, static_cast<std::int16_t>(columns.size()));
    for (const auto& [column, is_key] : columns) {
      out += is_key ? '\1' : '\0';
      put_string(out, column);
      put_number(out, std::uint32_t{25});
      put_number(out, std::int32_t{-1});
    }
    send(out);
  }
  void begin(std::uint64_t commit) {
    std::string out{"B"};
    put_number(out, commit);
    put_number(out, std::int64_t{0});
    put_number(out, std::uint32_t{77});
    commit_ = commit;
    send(out);
  }
  void commit() {
    std::string out{"C"};
    out += '\0';
    put_number(out, commit_);
    put_number(out, commit_ + 8);
    put_number(out, std::int64_t{0});
    send(out);
  }
  using Row = std::vector<std::optional<std::string>>;
  void insert(std::uint32_t id, const Row& row) { send(head('I', id) + "N" + tuple(row)); }
  void update(std::uint32_t id, const Row& row) { send(head('U', id) + "N" + tuple(row)); }
  void update(std::uint32_t id, char kind, const Row& before, const Row& row) {
    send(head('U', id) + kind + tuple(before) + "N" + tuple(row));
  }
  void remove(std::uint32_t id, char kind, const Row& before) {
    send(head('D', id) + kind + tuple(before));
  }
  void send(const std::string& message) {
    std::string out{"w"};
    put_number(out, std::uint64_t{1});
    put_number(out, commit_);
    put_number(out, std::int64_t{0});
    script_.stream.push_back(out + message);
  }

 private:
  static std::string head(char kind, std::uint32_t id) {
    std::string out{kind};
    put_number(out, id);
    return out;
  }
  static std::string tuple(const Row& row) {
    std::string out;
    put_number(out, static_cast<std::int16_t>(row.size()));
    for (const auto& value : row) {
      if (!value) {
        out += 'n';
      } else if (*value == "(unchanged)") {
        out += 'u';
      } else {
        out += 't';
        put_number(out, static_cast<std::uint32_t>(value->size()));
        out += *value;
      }
    }
    return out;
  }

  Script& script_;
  std::uint64_t commit_ = 1;
};

/// A database with a subscription to a fake publisher, which has one table.
struct Subscriber {
  Subscriber() {
    db.database().shared().publishers = &door;
    db.run("CREATE TABLE t (id int PRIMARY KEY, name text, extra text DEFAULT 'default')");
    script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "t", std::nullopt}};
    script.answers["SELECT t.pubname"] = {{"p"}};
  }
  void subscribe(const std::string& options) {
    REQUIRE(db.run("CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p WITH (" + options + ")") ==
            "CREATE SUBSCRIPTION");
  }
  /// Runs a worker until the stream is at its end, or it fails.
  ApplyEnd follow() {
    FakeDoor own{script};
    const std::vector<ApplyJob> jobs = find_apply_jobs(db.database());
    REQUIRE(jobs.size() == 1);
    ApplyJob job = jobs[0];
    job.pid = 2'000'000'000;
    return run_apply_worker(db.database(), own, job);
  }

  Script script;
  FakeDoor door{script};
  TestDatabase db;
  Changes changes{script};
};

constexpr std::uint32_t kRelation = 4711;

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
        "START_REPLICATION SLOT s LOGICAL 0/208 (proto_version '1', publication_names '\"p\"')");
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

TEST_CASE("a worker copies a table first", "[sql][subscriptions]") {
  Subscriber s;
  s.subscribe("copy_data = true");
  s.script.answers["CREATE_REPLICATION_SLOT"] = {{"x", "0/150", std::nullopt, "pgoutput"}};
  s.script.answers["SELECT DISTINCT a.column_name"] = {{"id", std::nullopt},
                                                       {"name", std::nullopt}};
  s.script.answers["SELECT a.attname"] = {{"id"}, {"name"}};
  s.script.answers["SELECT c.relkind"] = {{"r"}};
  s.script.copies["COPY public.t (id, name) TO STDOUT"] = "1\tone\n2\t\\N\n";
  Changes& c = s.changes;
  c.relation(kRelation, "t", 'd', {{"id", true}, {"name", false}});
  c.begin(0x100);
  c.insert(kRelation, {"1", "one"});  // in the copy already
  c.commit();
  c.begin(0x150);
  c.insert(kRelation, {"3", "three"});
  c.commit();
  CHECK(s.follow() == ApplyEnd::over);
  CHECK(s.db.rows("SELECT id, name FROM t ORDER BY id") ==
        std::vector<std::string>{"1|one", "2|NULL", "3|three"});
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
