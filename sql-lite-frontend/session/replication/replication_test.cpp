#include "sql-lite-frontend/replication.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "storage/logical/logical_log.h"

/// Logical replication in process: publications, a slot, changes, pgoutput's messages.
namespace swizzle::sql {
namespace {

/// Parser of a message.
class MessageText {
 public:
  explicit MessageText(std::string_view bytes) : rest_(bytes) {}
  /// Returns the message in the tests' notation: "I t (1,'a')".
  std::string shown();

 private:
  char letter() {
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  template <class T>
  T number() {
    const T taken = load_big_endian<T>(as_bytes(rest_).data());
    rest_.remove_prefix(sizeof(T));
    return taken;
  }
  std::string text() {
    const std::size_t end = rest_.find('\0');
    std::string taken{rest_.substr(0, end)};
    rest_.remove_prefix(end + 1);
    return taken;
  }
  std::string row() {
    std::string shown = "(";
    const auto columns = number<std::uint16_t>();
    for (std::uint16_t i = 0; i < columns; ++i) {
      if (i != 0) shown += ",";
      if (letter() == 'n') {
        shown += "-";
        continue;
      }
      const auto bytes = number<std::uint32_t>();
      shown += rest_.substr(0, bytes);
      rest_.remove_prefix(bytes);
    }
    return shown + ")";
  }
  std::string relation() {
    number<std::uint32_t>();
    const std::string schema = text();
    std::string shown = "R " + schema + "." + text();
    shown += " ";
    shown += letter();
    const auto columns = number<std::uint16_t>();
    for (std::uint16_t i = 0; i < columns; ++i) {
      const bool is_key = letter() != 0;
      shown += " " + text() + (is_key ? "*" : "");
      number<std::uint32_t>();
      number<std::uint32_t>();
    }
    return shown;
  }

  std::string_view rest_;
};

std::string MessageText::shown() {
  const char kind = letter();
  std::string shown{kind};
  switch (kind) {
    case 'R':
      return relation();
    case 'M': {
      shown += letter() == 0 ? " alone " : " ";
      number<std::uint64_t>();
      shown += text() + ": ";
      const auto bytes = number<std::uint32_t>();
      return shown.append(rest_.substr(0, bytes));
    }
    case 'Y':
      number<std::uint32_t>();
      shown += " " + text();
      return shown + "." + text();
    case 'T': {
      const auto count = number<std::uint32_t>();
      return fmt::format("T {} {}", count, static_cast<int>(letter()));
    }
    case 'I':
    case 'U':
    case 'D':
      number<std::uint32_t>();
      while (!rest_.empty()) {
        shown += fmt::format(" {}", letter());
        shown += row();
      }
      return shown;
    default:
      return shown;
  }
}

/// Reads until the end, and confirms everything.
class Collector final : public ChangeSender {
 public:
  explicit Collector(bool confirms = true) : confirms_(confirms) {}
  void send(ChangeStream& stream) override {
    for (;;) {
      auto message = stream.next();
      if (message) {
        shown.push_back(MessageText{message->bytes}.shown());
      } else if (stream.is_at_end()) {
        break;
      }
    }
    if (confirms_) stream.confirm(stream.position());
  }
  std::vector<std::string> shown;

  Result<> copy_server(FileSystem&, const RecoveryObserver&) override {
    return fail(sqlstate::feature_not_supported, "there is no server");
  }

 private:
  bool confirms_;
};

class PublisherDatabase : public TestDatabase {
 public:
  PublisherDatabase() { allow(); }
  void allow() {
    REQUIRE(database().shared().settings.set_at_start({"wal_level", "logical", "test"},
                                                      SettingSource::command_line));
  }
  void restart() {
    close();
    open();
    allow();
  }
  std::string command(std::string_view text) {
    Collector nobody;
    return command(text, nobody);
  }
  std::string command(std::string_view text, ChangeSender& sender) {
    ReplicationCommands commands{session(), ReplicationCommands::For::readers_of_changes};
    const Outcome outcome = commands.run(text, sink(), sender);
    if (!outcome) return std::string{outcome.error().state.code()} + " " + outcome.error().message;
    return "done";
  }
  std::vector<std::string> changes(const std::string& publications = "p", bool confirms = true,
                                   const std::string& options = "") {
    engine().logical_log().flush();
    Collector collector{confirms};
    CHECK(command("START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '1', publication_names '" +
                      publications + "'" + options + ")",
                  collector) == "done");
    return collector.shown;
  }
  void make_slot() {
    CHECK(command("CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'nothing')") == "done");
  }
};

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("A slot's reader is told of inserts, updates and deletes", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text); CREATE TABLE other(id int PRIMARY KEY)");
  CHECK(db.run("CREATE PUBLICATION p FOR TABLE t") == "CREATE PUBLICATION");
  db.run("INSERT INTO t VALUES (0, 'before the slot')");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1, 'a'), (2, NULL); INSERT INTO other VALUES (1)");
  db.run("UPDATE t SET v = 'b' WHERE id = 1");
  db.run("UPDATE t SET id = 3 WHERE id = 2");
  db.run("DELETE FROM t WHERE id = 3");
  db.run("BEGIN; INSERT INTO t VALUES (9, 'undone'); ROLLBACK");
  db.run("INSERT INTO other VALUES (2)");
  CHECK(db.changes() == Messages{"B", "R public.t d id* v", "I N(1,a)", "I N(2,-)", "C",  //
                                 "B", "U N(1,b)", "C",                                    //
                                 "B", "U K(2,-) N(3,-)", "C",                             //
                                 "B", "D K(3,-)", "C"});
  // Confirmed changes are not sent again.
  CHECK(db.changes().empty());
}

TEST_CASE("What nobody has confirmed comes again, after a restart as well", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("CREATE PUBLICATION p FOR ALL TABLES");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1)");
  const Messages told{"B", "R public.t d id*", "I N(1)", "C"};
  CHECK(db.changes("p", false) == told);
  CHECK(db.changes("p", false) == told);
  db.restart();
  CHECK(db.changes("p", false) == told);
  db.run("DROP TABLE t");
  CHECK(db.changes() == told);
}

TEST_CASE("Filters are asked of old and new rows, lists say which columns", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int, hidden text)");
  db.run("CREATE PUBLICATION p FOR TABLE t (id, v) WHERE (id < 10)");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1, 1, 'x'), (11, 11, 'x')");
  db.run("UPDATE t SET id = 12 WHERE id = 1");
  db.run("UPDATE t SET id = 2 WHERE id = 11");
  db.run("UPDATE t SET v = 5 WHERE id = 2");
  db.run("DELETE FROM t");
  CHECK(db.changes() == Messages{"B", "R public.t d id* v", "I N(1,1)", "C",  //
                                 "B", "D K(1,-)", "C",                        //
                                 "B", "I N(2,11)", "C",                       //
                                 "B", "U N(2,5)", "C",                        //
                                 "B", "D K(2,-)", "C"});
}

TEST_CASE("Stored generated columns are told to the publications that ask for them",
          "[sql][replication]") {
  PublisherDatabase db;
  db.run(
      "CREATE TABLE t(id int PRIMARY KEY, s int GENERATED ALWAYS AS (id + 1) STORED, "
      "v int GENERATED ALWAYS AS (id + 2) VIRTUAL, w text)");
  db.run("CREATE PUBLICATION plain FOR TABLE t");
  db.run("CREATE PUBLICATION stored FOR TABLE t WITH (publish_generated_columns = stored)");
  db.run("CREATE PUBLICATION listed FOR TABLE t (id, s)");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1, DEFAULT, DEFAULT, 'x')");
  CHECK(db.changes("plain", false) == Messages{"B", "R public.t d id* w", "I N(1,x)", "C"});
  CHECK(db.changes("stored", false) == Messages{"B", "R public.t d id* s w", "I N(1,2,x)", "C"});
  CHECK(db.changes("listed", false) == Messages{"B", "R public.t d id* s", "I N(1,2)", "C"});
  // The whole row identifies it: all of it must be told.
  db.run("ALTER TABLE t REPLICA IDENTITY FULL");
  CHECK(db.run("UPDATE t SET w = 'y'") == "42P10 cannot update table \"t\"");
}

TEST_CASE("Changes are told with the definitions that they were made under", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TYPE mood AS ENUM ('sad', 'ok')");
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text, m mood)");
  db.run("ALTER TABLE t REPLICA IDENTITY FULL");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1, 'a', 'ok')");
  db.run("ALTER TABLE t DROP COLUMN v, ADD COLUMN w int DEFAULT 7");
  db.run("ALTER TABLE t RENAME TO u");
  db.run("UPDATE u SET m = 'sad'; TRUNCATE u");
  CHECK(db.changes() == Messages{"B", "Y public.mood", "R public.t f id* v* m*", "I N(1,a,ok)", "C",
                                 "B", "Y public.mood", "R public.u f id* m* w*",
                                 "U O(1,ok,7) N(1,sad,7)", "T 1 0", "C"});
}

TEST_CASE("Types are told as they were when the change was made", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN humour AS mood");
  db.run("CREATE TYPE pair AS (m mood, n int); CREATE TYPE span AS RANGE (subtype = int)");
  db.run("CREATE TABLE t(id int PRIMARY KEY, m mood, h humour, a mood[], p pair, s span)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1, 'ok', 'sad', '{sad,ok}', '(ok,7)', '[1,5)')");
  CHECK(db.run("ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'") == "ALTER TYPE");
  CHECK(db.run("ALTER TYPE mood RENAME TO temper") == "ALTER TYPE");
  CHECK(db.run("INSERT INTO t VALUES (2, 'fine', 'sad', '{fine}', '(fine,8)', NULL)") ==
        "INSERT 0 1");
  CHECK(db.run("DROP TABLE t; DROP TYPE pair, span; DROP DOMAIN humour; DROP TYPE temper") ==
        "DROP TABLE DROP TYPE DROP DOMAIN DROP TYPE");
  const Messages told{"B",
                      "Y public.mood",
                      "Y public.mood",
                      "Y public.pair",
                      "Y public.span",
                      "R public.t d id* m h a p s",
                      "I N(1,ok,sad,{sad,ok},(ok,7),[1,5))",
                      "C",
                      "B",
                      "Y public.temper",
                      "Y public.temper",
                      "Y public.pair",
                      "Y public.span",
                      "R public.t d id* m h a p s",
                      "I N(2,fine,sad,{fine},(fine,8),-)",
                      "C"};
  CHECK(db.changes("p", false) == told);
  db.restart();
  CHECK(db.changes("p", false) == told);
}

TEST_CASE("A table without replica identity is inserted into, and no more", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int, v int NOT NULL)");
  db.run("INSERT INTO t VALUES (1, 1)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  CHECK(db.run("UPDATE t SET id = 2") ==
        "55000 cannot update table \"t\" because it does not have a replica identity and publishes "
        "updates");
  CHECK(db.run("DELETE FROM t") ==
        "55000 cannot delete from table \"t\" because it does not have a replica identity and "
        "publishes deletes");
  db.run("ALTER PUBLICATION p SET (publish = 'insert')");
  CHECK(db.run("UPDATE t SET id = 2") == "UPDATE 1");
  db.run("ALTER PUBLICATION p SET (publish = 'insert, update')");
  db.run("CREATE UNIQUE INDEX by_v ON t (v)");
  CHECK(db.run("ALTER TABLE t REPLICA IDENTITY USING INDEX by_v") == "ALTER TABLE");
  db.make_slot();
  CHECK(db.run("UPDATE t SET v = 3") == "UPDATE 1");
  CHECK(db.changes() == Messages{"B", "R public.t i id v*", "U K(-,1) N(2,3)", "C"});
}

TEST_CASE("Savepoints, COPY and large transactions", "[sql][replication]") {
  PublisherDatabase db;
  db.run("SET logical_decoding_work_mem = '64kB'");
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text)");
  db.run("CREATE PUBLICATION p FOR TABLES IN SCHEMA public");
  db.make_slot();
  db.run(
      "BEGIN; INSERT INTO t SELECT n, repeat('x', 100) FROM generate_series(1, 3000) n; "
      "SAVEPOINT s; DELETE FROM t WHERE id > 10; ROLLBACK TO s; "
      "DELETE FROM t WHERE id > 2999; COMMIT");
  db.run("INSERT INTO t VALUES (5000, repeat('y', 700000))");
  const Messages told = db.changes();
  REQUIRE(told.size() == 3004 + 3);
  CHECK(told[2] == "I N(1," + std::string(100, 'x') + ")");
  CHECK(told[3002] == "D K(3000,-)");
  CHECK(told[3003] == "C");
  CHECK(told[3005] == "I N(5000," + std::string(700'000, 'y') + ")");
}

TEST_CASE("Changes of other databases are not told, dropped ones' neither", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("CREATE PUBLICATION p FOR ALL TABLES");
  db.make_slot();
  CHECK(db.run("CREATE DATABASE elsewhere") == "CREATE DATABASE");
  {
    SessionOptions options;
    options.backend_pid = 77;
    options.database = "elsewhere";
    auto connected = db.database().connect(options);
    REQUIRE(connected);
    Session& elsewhere = **connected;
    db.run(elsewhere, "CREATE TABLE t(id int PRIMARY KEY)");
    CHECK(db.run(elsewhere, "CREATE PUBLICATION p FOR ALL TABLES") == "CREATE PUBLICATION");
    CHECK(db.run(elsewhere, "INSERT INTO t VALUES (1)") == "INSERT 0 1");
    CHECK(db.run(elsewhere, "TRUNCATE t") == "TRUNCATE TABLE");
  }
  db.run("INSERT INTO t VALUES (2)");
  const Messages told{"B", "R public.t d id*", "I N(2)", "C"};
  CHECK(db.changes("p", false) == told);
  CHECK(db.run("DROP DATABASE elsewhere") == "DROP DATABASE");
  CHECK(db.changes() == told);
}

TEST_CASE("Messages are told with their transaction, or at once", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  db.make_slot();
  db.run("SELECT pg_logical_emit_message(true, 'app', 'alone in it')");
  db.run(
      "BEGIN; SELECT pg_logical_emit_message(true, 'app', 'with a row'); INSERT INTO t VALUES (1); "
      "SELECT pg_logical_emit_message(false, 'now', '\\x00ff'::bytea); COMMIT");
  db.run(
      "BEGIN; SELECT pg_logical_emit_message(true, 'app', 'undone'); "
      "SELECT pg_logical_emit_message(false, 'now', 'stays'); ROLLBACK");
  db.run(
      "BEGIN; SAVEPOINT s; SELECT pg_logical_emit_message(true, 'app', 'undone'); "
      "ROLLBACK TO s; COMMIT");
  CHECK(db.changes("p", false) == Messages{"B", "R public.t d id*", "I N(1)", "C"});
  CHECK(db.changes("p", true, ", messages 'true'") ==
        Messages{"B", "M app: alone in it", "C",
                 // This message is sent before the transaction in which it was emitted.
                 "M alone now: " + std::string("\0\xff", 2), "B", "M app: with a row",
                 "R public.t d id*", "I N(1)", "C", "M alone now: stays"});
}

TEST_CASE("Large and prepared transactions come as PostgreSQL 15 sends them",
          "[sql][replication]") {
  PublisherDatabase db;
  REQUIRE(db.database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                       SettingSource::command_line));
  db.run("SET logical_decoding_work_mem = '64kB'");
  db.run("CREATE TABLE t(a int PRIMARY KEY, b text)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  CHECK(db.run("SELECT pg_create_logical_replication_slot('z', 'pgoutput', false, true) IS NULL") ==
        "f SELECT 1");
  const auto insert = [](int from, int to) {
    return "INSERT INTO t SELECT n, repeat('x', 100) FROM generate_series(" + std::to_string(from) +
           ", " + std::to_string(to) + ") n";
  };
  for (const std::string& statement :
       std::vector<std::string>{"BEGIN",
                                insert(1, 1),
                                "PREPARE TRANSACTION 'one'",
                                "ROLLBACK PREPARED 'one'",  //
                                "BEGIN",
                                insert(2, 2),
                                "SAVEPOINT s",
                                insert(3, 3),
                                "ROLLBACK TO s",
                                "PREPARE TRANSACTION 'two'",
                                "COMMIT PREPARED 'two'",  //
                                "BEGIN",
                                insert(100, 2000),
                                "SAVEPOINT a",
                                insert(2001, 4000),
                                "ROLLBACK TO a",
                                insert(4001, 4100),
                                "COMMIT",  //
                                "BEGIN",
                                insert(5000, 7000),
                                "ROLLBACK",  //
                                "BEGIN",
                                insert(5000, 7000),
                                "PREPARE TRANSACTION 'large'",
                                "ROLLBACK PREPARED 'large'",
                                "BEGIN",
                                insert(9000, 11000),
                                "PREPARE TRANSACTION 'large'",
                                "COMMIT PREPARED 'large'",
                                "UPDATE t SET b = 'short' WHERE a = 2"}) {
    INFO(statement);
    CHECK(db.run(statement).substr(0, 1) != "2");
  }
  db.engine().logical_log().flush();
  // Rows, and parts of a transaction, that follow each other are one.
  const auto letters = [&](const std::string& options) {
    return db.rows(
        "SELECT regexp_replace(regexp_replace(string_agg(chr(get_byte(data, 0)), ''), 'I+', 'I', "
        "'g'), '(SR?IE)+', 'S', 'g') FROM pg_logical_slot_peek_binary_changes('z', NULL, NULL, "
        "'proto_version', '3', 'publication_names', 'p'" +
        options + ")")[0];
  };
  CHECK(letters("") == "bRIPrbIPKBICbIPrbIPKBUC");
  CHECK(letters(", 'streaming', 'on'") == "bRIPrbIPKSAScSASprSpKBUC");
  CHECK(db.run("SELECT two_phase FROM pg_replication_slots") == "t SELECT 1");
  CHECK(db.run("SELECT * FROM pg_logical_slot_peek_binary_changes('z', NULL, NULL, "
               "'proto_version', '1', 'publication_names', 'p', 'streaming', 'on')") ==
        "22023 requested proto_version=1 does not support streaming, need 2 or higher");
  CHECK(db.run("SELECT * FROM pg_logical_slot_peek_binary_changes('z', NULL, NULL, "
               "'proto_version', '2', 'publication_names', 'p', 'two_phase', 'on')") ==
        "22023 requested proto_version=2 does not support two-phase commit, need 3 or higher");
}

TEST_CASE("Functions read slots, and move them on", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  db.make_slot();
  const auto first_letters = [&](const std::string& function, const std::string& rest) {
    return db.run("SELECT chr(get_byte(data, 0)) FROM " + function + "('s', " + rest +
                  ", 'proto_version', '1', 'publication_names', 'p')");
  };
  db.run("INSERT INTO t VALUES (1)");
  db.run("INSERT INTO t VALUES (2)");
  CHECK(first_letters("pg_logical_slot_peek_binary_changes", "NULL, NULL") ==
        "B R I C B I C SELECT 7");
  CHECK(first_letters("pg_logical_slot_peek_binary_changes", "NULL, 1") == "B R I C SELECT 4");
  CHECK(first_letters("pg_logical_slot_get_binary_changes", "NULL, 1") == "B R I C SELECT 4");
  CHECK(db.run("SELECT lsn > '0/0', xid::text <> '0' FROM pg_logical_slot_peek_binary_changes('s', "
               "NULL, 1, 'proto_version', '1', 'publication_names', 'p') LIMIT 1") ==
        "t|t SELECT 1");
  CHECK(first_letters("pg_logical_slot_get_binary_changes", "'0/1', NULL") == "SELECT 0");
  CHECK(first_letters("pg_logical_slot_get_binary_changes", "NULL, NULL") == "B R I C SELECT 4");
  CHECK(first_letters("pg_logical_slot_get_binary_changes", "NULL, NULL") == "SELECT 0");
  db.run("INSERT INTO t VALUES (3)");
  CHECK(db.run("SELECT slot_name, end_lsn > '0/0' FROM pg_replication_slot_advance('s', "
               "pg_current_wal_lsn())") == "s|t SELECT 1");
  CHECK(first_letters("pg_logical_slot_get_binary_changes", "NULL, NULL") == "SELECT 0");
  CHECK(db.run("SELECT pg_replication_slot_advance('s', '0/1')").substr(0, 41) ==
        "55000 cannot advance replication slot to ");
  CHECK(db.run("SELECT * FROM pg_logical_slot_get_changes('s', NULL, NULL, 'proto_version', '1', "
               "'publication_names', 'p')") ==
        "0A000 logical decoding output plugin \"pgoutput\" produces binary output, but function "
        "\"pg_logical_slot_get_changes(name,pg_lsn,integer,text[])\" expects textual data");
  CHECK(db.run("SELECT * FROM pg_logical_slot_get_binary_changes('s', NULL, NULL)") ==
        "0A000 client sent proto_version=0 but we only support protocol 1 or higher");
  CHECK(db.run("SELECT * FROM pg_logical_slot_get_binary_changes('s', NULL, NULL, 'x')") ==
        "0A000 array must have even number of elements");
}

TEST_CASE("Snapshots that transactions export", "[sql][replication]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("INSERT INTO t VALUES (1)");
  const auto other = db.connect();
  for (const std::string level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    db.run("DELETE FROM t WHERE id > 1");
    db.run("BEGIN ISOLATION LEVEL " + level);
    const std::string name = db.rows("SELECT pg_export_snapshot()").at(0);
    db.run("ROLLBACK");
    db.run("BEGIN ISOLATION LEVEL " + level);
    const std::string second = db.rows("SELECT pg_export_snapshot()").at(0);
    const auto third = db.connect();
    db.run(*third, "INSERT INTO t VALUES (2)");
    db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    CHECK(db.run(*other, "SET TRANSACTION SNAPSHOT '" + name + "'") ==
          "22023 invalid snapshot identifier: \"" + name + "\"");
    db.run(*other, "ROLLBACK");
    db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    CHECK(db.run(*other, "SET TRANSACTION SNAPSHOT '" + second + "'") == "SET");
    db.run("COMMIT");
    CHECK(db.run(*other, "SELECT * FROM t") == "1 SELECT 1");
    db.run(*other, "COMMIT");
  }
  CHECK(db.run("BEGIN; SAVEPOINT s; SELECT pg_export_snapshot()").substr(0, 5) == "25001");
  db.run("ROLLBACK");
}

TEST_CASE("A slot's reader may give the options of PostgreSQL 18", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t");
  db.make_slot();
  db.run("INSERT INTO t VALUES (1)");
  const std::string start =
      "START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '4', streaming "
      "'parallel', publication_names 'p', origin ";
  CHECK(db.command(start + "'any')") == "done");
  CHECK(db.command(start + "'none')") == "done");
  CHECK(db.command(start + "'some')") == "22023 unrecognized origin value: \"some\"");
}

TEST_CASE("Who may have slots, and when", "[sql][replication]") {
  PublisherDatabase db;
  db.make_slot();
  CHECK(db.command("CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'nothing')") ==
        "42710 replication slot \"s\" already exists");
  CHECK(db.command("CREATE_REPLICATION_SLOT \"S\" LOGICAL pgoutput (SNAPSHOT 'nothing')") ==
        "42602 replication slot name \"S\" contains invalid character");
  CHECK(db.command("CREATE_REPLICATION_SLOT z LOGICAL test_decoding") ==
        "0A000 output plugin \"test_decoding\" is not supported");
  CHECK(db.command("DROP_REPLICATION_SLOT z") == "42704 replication slot \"z\" does not exist");
  CHECK(db.command("START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '9')").substr(0, 5) ==
        "0A000");
  CHECK(db.run("SELECT slot_name, plugin, database, active FROM pg_replication_slots") ==
        "s|pgoutput|postgres|f SELECT 1");
  db.run("CREATE ROLE plain; SET ROLE plain");
  CHECK(db.command("DROP_REPLICATION_SLOT s") ==
        "42501 must be superuser or replication role to use replication slots");
  db.run("RESET ROLE");
  CHECK(db.run("SELECT pg_drop_replication_slot('s')") == " SELECT 1");
  CHECK(db.run("SELECT (pg_create_logical_replication_slot('listed', 'pgoutput')).slot_name") ==
        "listed SELECT 1");
  CHECK(db.run("SELECT pg_drop_replication_slot('listed')") == " SELECT 1");
  CHECK(db.run("SELECT slot_name FROM pg_create_logical_replication_slot('q', 'pgoutput')") ==
        "q SELECT 1");
}

TEST_CASE("Slots of servers that follow keep the log, and are not read for changes",
          "[sql][replication]") {
  PublisherDatabase db;
  CHECK(db.run("SELECT slot_name, lsn IS NULL FROM pg_create_physical_replication_slot('idle')") ==
        "idle|t SELECT 1");
  CHECK(db.run("SELECT slot_type, num_nulls(plugin, database, restart_lsn, confirmed_flush_lsn, "
               "wal_status) FROM pg_replication_slots") == "physical|5 SELECT 1");
  CHECK(db.command("CREATE_REPLICATION_SLOT kept PHYSICAL RESERVE_WAL") == "done");
  CHECK(db.run("SELECT restart_lsn <= pg_current_wal_lsn(), wal_status FROM pg_replication_slots "
               "WHERE slot_name = 'kept'") == "t|reserved SELECT 1");
  CHECK(db.command("READ_REPLICATION_SLOT kept") == "done");
  CHECK(db.command("CREATE_REPLICATION_SLOT kept PHYSICAL").substr(0, 5) == "42710");
  CHECK(db.command("START_REPLICATION SLOT kept LOGICAL 0/0 (proto_version '1', "
                   "publication_names 'p')") ==
        "55000 cannot use physical replication slot for logical decoding");
  CHECK(db.run("SELECT pg_replication_slot_advance('idle', 'F/0')") ==
        "55000 replication slot \"idle\" cannot be advanced");
  CHECK(db.run("SELECT (pg_replication_slot_advance('kept', 'F/0')).end_lsn <= "
               "pg_current_wal_lsn()") == "t SELECT 1");
  CHECK(
      db.run("SELECT count(*) FROM pg_get_replication_slots() f JOIN pg_replication_slots v USING "
             "(slot_name, slot_type, temporary, active) WHERE f.restart_lsn IS NOT DISTINCT FROM "
             "v.restart_lsn AND f.wal_status IS NOT DISTINCT FROM v.wal_status AND f.plugin IS "
             "NULL AND f.xmin IS NULL AND NOT f.two_phase") == "2 SELECT 1");
  db.restart();
  CHECK(db.run("SELECT string_agg(slot_name || ' ' || slot_type, ', ' ORDER BY slot_name) FROM "
               "pg_replication_slots") == "idle physical, kept physical SELECT 1");
  CHECK(db.run("SELECT pg_drop_replication_slot('idle')") == " SELECT 1");
  CHECK(db.command("DROP_REPLICATION_SLOT kept") == "done");
}

TEST_CASE("Tools that watch servers read the control file and the names of the log's files",
          "[sql][replication]") {
  PublisherDatabase db;
  CHECK(db.run("SELECT timeline_id, prev_timeline_id, checkpoint_lsn >= redo_lsn, "
               "checkpoint_time <= now(), redo_wal_file ~ '^00000001[0-9A-F]{16}$' "
               "FROM pg_control_checkpoint()") == "1|1|t|t|t SELECT 1");
  CHECK(db.run("SELECT pg_control_version, catalog_version_no, system_identifier <> 0 FROM "
               "pg_control_system()") == "1800|202506291|t SELECT 1");
  CHECK(db.run("SELECT * FROM pg_control_recovery()") == "0/0|0|0/0|0/0|f SELECT 1");
  CHECK(db.run("SELECT pid IS NULL, status IS NULL FROM pg_stat_get_wal_receiver()") ==
        "t|t SELECT 1");
  CHECK(db.run("SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int, "
               "pg_walfile_name('0/1') = (pg_walfile_name_offset('0/1')).file_name, "
               "(pg_walfile_name_offset('0/1')).file_offset") == "1|t|1 SELECT 1");
}

TEST_CASE("The log as it is goes to a server that follows, from where it asks",
          "[sql][replication]") {
  /// Concatenates the received messages.
  class Follower final : public ChangeSender {
   public:
    void send(ChangeStream& stream) override {
      while (auto message = stream.next()) bytes += message->bytes;
      stream.confirm(stream.position());
      end = stream.position();
    }
    Result<> copy_server(FileSystem&, const RecoveryObserver&) override { return {}; }
    std::string bytes;
    Lsn end = Lsn::none;
  };
  PublisherDatabase db;
  CHECK(db.command("CREATE_REPLICATION_SLOT s PHYSICAL RESERVE_WAL") == "done");
  const std::string from = db.rows("SELECT pg_current_wal_flush_lsn()").front();
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("INSERT INTO t VALUES (1)");
  db.engine().logical_log().flush();
  Follower follower;
  CHECK(db.command("START_REPLICATION SLOT s PHYSICAL " + from + " TIMELINE 1", follower) ==
        "done");
  CHECK(follower.end == db.engine().logical_log().durable());
  CHECK(!follower.bytes.empty());
  CHECK(db.run("SELECT confirmed_flush_lsn IS NULL FROM pg_replication_slots") == "t SELECT 1");
  CHECK(db.command("START_REPLICATION " + from, follower) == "done");
  CHECK(
      db.command("START_REPLICATION PHYSICAL FFFF/0", follower)
          .starts_with("XX000 requested starting point FFFF/0 is ahead of the WAL flush position"));
  CHECK(db.command("START_REPLICATION PHYSICAL " + from + " TIMELINE 2", follower) ==
        "XX000 requested timeline 2 is not in this server's history");
  CHECK(db.command("TIMELINE_HISTORY 2").starts_with("58P01"));
  CHECK(db.command("IDENTIFY_SYSTEM") == "done");
  CHECK(db.command("BASE_BACKUP") == "0A000 replication command BASE_BACKUP is not supported");
}

TEST_CASE("The first copy and the changes after it are the whole", "[sql][replication]") {
  PublisherDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("CREATE PUBLICATION p FOR TABLE t");
  db.run("INSERT INTO t VALUES (1)");
  const auto other = db.connect();
  db.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  CHECK(db.command("CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'use')") == "done");
  db.run(*other, "INSERT INTO t VALUES (2)");
  CHECK(db.run("SELECT * FROM t") == "1 SELECT 1");
  db.run("COMMIT");
  CHECK(db.changes() == Messages{"B", "R public.t d id*", "I N(2)", "C"});
  CHECK(db.run("SET TRANSACTION SNAPSHOT 'x'").substr(0, 5) == "0A000");
  CHECK(db.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT 'x'") ==
        "22023 invalid snapshot identifier: \"x\"");
}

}  // namespace swizzle::sql
