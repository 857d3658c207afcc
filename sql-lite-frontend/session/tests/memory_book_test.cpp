#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/user_types.h"

/// Everything that grows with a client's input, each run up to its limit under
/// session_memory_limit: the session gets an error, memory stays bounded, and the session goes on.
namespace swizzle::sql {
namespace {

constexpr std::size_t kLimitBytes = std::size_t{16} << 20U;
/// More than the limit, and less than an uncounted container would take.
constexpr std::size_t kMostGrowth = std::size_t{96} << 20U;
constexpr std::size_t kMostSent = std::size_t{128} << 20U;

std::size_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t pages = 0;
  std::size_t resident = 0;
  file >> pages >> resident;
  return resident * 4096;
}

/// Sends the first piece, and then the other one endlessly.
class EndlessCopy final : public TestSink {
 public:
  EndlessCopy(std::string first, std::string more)
      : first_(std::move(first)), more_(std::move(more)) {}
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    if (sent_ == 0) {
      sent_ += first_.size() + 1;
      return std::optional{as_bytes(first_)};
    }
    if (sent_ > kMostSent) return std::optional<Bytes>{};
    sent_ += more_.size();
    return std::optional{as_bytes(more_)};
  }

 private:
  std::string first_;
  std::string more_;
  std::size_t sent_ = 0;
};

std::string text_of(const Outcome& outcome) {
  if (outcome) return "done";
  return std::string{outcome.error().state.code()} + " " + outcome.error().message;
}

std::string copy(Session& session, const std::string& sql, const std::string& first,
                 const std::string& more) {
  EndlessCopy sink{first, more};
  return text_of(session.simple_query(sql, sink));
}

std::string query(Session& session, const std::string& sql) {
  TestSink sink;
  return text_of(session.simple_query(sql, sink));
}

/// Repeats until the first failure.
std::string repeat(int times, const std::function<std::string(int)>& one) {
  for (int i = 0; i < times; ++i) {
    std::string outcome = one(i);
    if (outcome != "done") return outcome;
  }
  return "never refused";
}

/// Returns a query of some 3,900 bytes, which may be shared among sessions.
std::string long_query(int number) {
  std::string sql = "SELECT " + std::to_string(number);
  while (sql.size() < 3900) sql += " + length('" + std::to_string(sql.size()) + "')";
  return sql;
}

std::string many(int times, const std::function<std::string(int)>& one) {
  std::string script;
  for (int i = 0; i < times; ++i) script += one(i) + ";";
  return script;
}

struct Chapter {
  const char* name;
  std::function<std::string(Session&)> run;
  bool leaves_transaction = false;
  /// True if what is kept is little, however much comes: it is never refused.
  bool forgets = false;
};

std::string bind_named(Session& session, const std::string& portal,
                       std::span<const std::optional<Bytes>> values) {
  TestSink sink;
  return text_of(session.bind(
      {.portal = portal, .statement = "", .formats = {}, .values = values, .result_formats = {}},
      sink));
}

/// Opens portals of one statement in a transaction, under the names that `name` gives.
std::string open_portals(Session& session, const std::string& statement, std::size_t parameters,
                         int times, const std::function<std::string(int)>& name) {
  query(session, "BEGIN");
  TestSink sink;
  static_cast<void>(session.parse("", statement, {}, sink));
  const std::vector<std::optional<Bytes>> nulls(parameters);
  return repeat(times, [&](int i) { return bind_named(session, name(i), nulls); });
}

std::string coalesce_of_parameters(int count) {
  std::string list = "SELECT coalesce($1::int";
  for (int i = 2; i <= count; ++i) list += ", $" + std::to_string(i);
  return list + ")";
}

/// Names that a client gives, outside of SQL and within.
std::vector<Chapter> chapters_of_names() {
  static const std::string kName(50'000, 'n');
  return {
      {"names of statements",
       [](Session& s) {
         return repeat(4000, [&](int i) {
           TestSink sink;
           return text_of(s.parse(kName + std::to_string(i), "SELECT 1", {}, sink));
         });
       }},
      {"names of portals",
       [](Session& s) {
         return open_portals(s, "SELECT 1", 0, 4000,
                             [](int i) { return kName + std::to_string(i); });
       },
       true},
      {"small portals",
       [](Session& s) {
         return open_portals(s, "SELECT 1", 0, 200'000,
                             [](int i) { return "f" + std::to_string(i); });
       },
       true},
      {"portals of many parameters",
       [](Session& s) {
         return open_portals(s, coalesce_of_parameters(2000), 2000, 4000,
                             [](int i) { return "g" + std::to_string(i); });
       },
       true},
      {"names of relations that there are not",
       [](Session& s) {
         return query(s,
                      "SELECT count(to_regclass(repeat('x', 50000) || i)) "
                      "FROM generate_series(1, 4000) i");
       },
       false, true},
      {"names of time zones",
       [](Session& s) {
         return query(s,
                      "DO $$ BEGIN FOR i IN 1..4000 LOOP BEGIN PERFORM now() AT TIME ZONE ('<' || "
                      "repeat('x', 50000) || i || '>5'); EXCEPTION WHEN others THEN NULL; END; END "
                      "LOOP; END $$");
       },
       false, true},
      {"names of settings that there are not",
       [](Session& s) {
         return query(s,
                      "SELECT count(current_setting('no.' || repeat('x', 50000) || i, true)) "
                      "FROM generate_series(1, 4000) i");
       },
       false, true},
  };
}

/// Things that a transaction or a session keeps to its end, or might keep of texts that it has
/// used.
std::vector<Chapter> chapters_of_sessions() {
  return {
      {"texts of EXECUTE",
       [](Session& s) {
         return query(s,
                      "DO $$ BEGIN FOR i IN 1..1500 LOOP EXECUTE 'SELECT ' || i || repeat(' + 1', "
                      "900); END LOOP; END $$");
       },
       false, true},
      {"notifications of a transaction",
       [](Session& s) {
         query(s, "BEGIN");
         return query(s,
                      "SELECT count(pg_notify('c', repeat('x', 5000) || i)) "
                      "FROM generate_series(1, 50000) i");
       },
       true},
      {"short notifications of a transaction",
       [](Session& s) {
         query(s, "BEGIN");
         return query(s, "SELECT count(pg_notify('c', i::text)) FROM generate_series(1, 500000) i");
       },
       true},
      {"exported snapshots",
       [](Session& s) {
         query(s, "BEGIN");
         return query(s, "SELECT count(pg_export_snapshot()) FROM generate_series(1, 200000)");
       },
       true},
      {"bodies of functions that are replaced",
       [](Session& s) {
         return query(s,
                      "DO $$ BEGIN FOR i IN 1..1500 LOOP EXECUTE format('CREATE OR REPLACE "
                      "FUNCTION f() RETURNS int LANGUAGE plpgsql AS %L', 'BEGIN RETURN ' || i || "
                      "repeat(' + 1', 5000) || '; END'); PERFORM f(); COMMIT; END LOOP; END $$");
       },
       false, true},
      {"regular expressions",
       [](Session& s) {
         return query(s,
                      "SELECT count(*) FROM generate_series(1, 5000) i "
                      "WHERE 'abc' ~ ('x' || i || repeat('y?z', 80))");
       },
       false, true},
      {"rows of a held cursor",
       [](Session& s) {
         return query(s,
                      "DECLARE h CURSOR WITH HOLD FOR SELECT i, repeat('x', 1000) "
                      "FROM generate_series(1, 150000) i");
       },
       false, true},
  };
}

const std::vector<Chapter>& book() {
  static const std::string kPiece(std::size_t{64} << 10U, 'x');
  using namespace std::string_literals;
  static const std::string kBinary = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\17\0\0\0"s;
  static const std::vector<Chapter> chapters{
      {"a line of COPY", [](Session& s) { return copy(s, "COPY t FROM STDIN", "x", kPiece); }},
      {"a quoted field of COPY",
       [](Session& s) { return copy(s, "COPY t FROM STDIN CSV", "\"", kPiece); }},
      {"the fields of a line of COPY",
       [](Session& s) {
         return copy(s, "COPY t FROM STDIN", "x", std::string(std::size_t{64} << 10U, '\t'));
       }},
      {"a field of binary COPY",
       [](Session& s) { return copy(s, "COPY t FROM STDIN BINARY", kBinary, kPiece); }},
      {"statements of Parse",
       [](Session& s) {
         return repeat(20'000, [&](int i) {
           TestSink sink;
           return text_of(s.parse("p" + std::to_string(i), long_query(i), {}, sink));
         });
       }},
      {"statements of PREPARE",
       [](Session& s) {
         return repeat(20'000, [&](int i) {
           return query(s, "PREPARE q" + std::to_string(i) + " AS " + long_query(i));
         });
       }},
      {"statements of PREPARE in one message",
       [](Session& s) {
         return repeat(100, [&](int round) {
           return query(s, many(200, [&](int i) {
                          return "PREPARE r" + std::to_string(round * 200 + i) + " AS " +
                                 long_query(i);
                        }));
         });
       }},
      {"doubled strings of PL/pgSQL",
       [](Session& s) {
         return query(
             s,
             "DO $$ DECLARE v text := 'x'; a text[]; BEGIN FOR i IN 1..40 LOOP v := v || v; "
             "a[i] := v; END LOOP; END $$");
       }},
      {"settings of many names",
       [](Session& s) {
         return query(s,
                      "SELECT count(set_config('a.b' || i, repeat('x', 1000), false)) "
                      "FROM generate_series(1, 200000) i");
       }},
      {"one setting set often in a transaction",
       [](Session& s) {
         return query(s,
                      "SELECT count(set_config('a.b', repeat('x', 10000) || i, false)) "
                      "FROM generate_series(1, 20000) i");
       }},
      {"channels of LISTEN",
       [](Session& s) {
         return repeat(500, [&](int round) {
           return query(
               s, many(1000, [&](int i) { return "LISTEN c" + std::to_string(round * 1000 + i); }));
         });
       }},
      {"savepoints",
       [](Session& s) {
         query(s, "BEGIN");
         return repeat(
             500, [&](int) { return query(s, many(1000, [&](int) { return "SAVEPOINT a"s; })); });
       },
       true},
      {"cursors",
       [](Session& s) {
         query(s, "BEGIN");
         return repeat(200, [&](int round) {
           return query(s, many(100, [&](int i) {
                          return "DECLARE d" + std::to_string(round * 100 + i) + " CURSOR FOR " +
                                 long_query(i);
                        }));
         });
       },
       true},
      {"portals",
       [](Session& s) {
         query(s, "BEGIN");
         TestSink sink;
         static_cast<void>(s.parse("", "SELECT $1::text", {}, sink));
         const std::vector<std::optional<Bytes>> values{as_bytes(std::string_view{kPiece})};
         return repeat(5000, [&](int i) {
           return text_of(s.bind({.portal = "e" + std::to_string(i),
                                  .statement = "",
                                  .formats = {},
                                  .values = values,
                                  .result_formats = {}},
                                 sink));
         });
       },
       true},
  };
  return chapters;
}

}  // namespace

TEST_CASE("the memory book: what grows with what a client sends is bounded",
          "[session][memory][book]") {
  TestDatabase db;
  MemoryTotal& total = db.database().shared().memory;
  db.run("CREATE TABLE t(x text)");
  std::vector<Chapter> chapters = book();
  for (const auto& more : {chapters_of_names(), chapters_of_sessions()})
    chapters.insert(chapters.end(), more.begin(), more.end());
  for (const Chapter& chapter : chapters) {
    std::unique_ptr<Session> session = db.connect();
    db.run(*session, "SET session_memory_limit = '16MB'");
    const std::size_t before = resident_bytes();
    const std::string outcome = chapter.run(*session);
    const std::size_t after = resident_bytes();
    INFO(chapter.name << ": " << (after > before ? (after - before) >> 20U : 0) << " MB, "
                      << total.used_bytes() << " bytes counted");
    const bool is_refused = outcome.starts_with("53200") || outcome.starts_with("54000");
    CHECK((is_refused ? "refused" : outcome) == (chapter.forgets ? "done" : "refused"));
    CHECK(total.used_bytes() <= kLimitBytes + kLimitBytes / 4);
    CHECK((after < before || after - before < kMostGrowth));
    // The session goes on.
    const auto sync = [&] {
      TestSink sink;
      static_cast<void>(session->sync(sink));
    };
    sync();
    if (chapter.leaves_transaction) CHECK(db.run(*session, "ROLLBACK") == "ROLLBACK");
    CHECK(db.run(*session, "SELECT 1") == "1 SELECT 1");
    CHECK(db.run(*session,
                 "SELECT count(*) FROM (SELECT i FROM generate_series(1, 1000) i ORDER BY "
                 "-i) x") == "1000 SELECT 1");
    session.reset();
    CHECK(total.used_bytes() < kLimitBytes);
  }
}

TEST_CASE("definitions take memory up to a limit, and give it back", "[session][memory][book]") {
  TestDatabase db;
  DefinitionMemory& memory = *db.database().shared().catalogs->shared_objects().definition_memory();
  CHECK(db.run("CREATE TABLE t(a int); CREATE SCHEMA s") == "CREATE TABLE CREATE SCHEMA");
  const std::size_t before = memory.used_bytes();
  memory.set_limit(before + (std::size_t{4} << 20U));
  const auto fill = [&](const std::string& statement) {
    std::string outcome = "done";
    for (int i = 0; i < 2000 && outcome.find("53200") == std::string::npos; ++i) {
      std::string numbered = statement;
      for (std::size_t at = 0; (at = numbered.find('#')) != std::string::npos;)
        numbered.replace(at, 1, std::to_string(i));
      outcome = db.run(numbered);
    }
    return outcome.substr(0, 5);
  };
  const std::string kText = "'" + std::string(20'000, 'x') + "'";
  db.run("CREATE ROLE r");
  for (const std::string& statement : std::vector<std::string>{
           "CREATE TEMP TABLE t#(a int); COMMENT ON TABLE t# IS " + kText,
           "CREATE TABLE s.t#(a text DEFAULT " + kText + ")",
           "CREATE VIEW s.v# AS SELECT " + kText + " AS a",
           "CREATE FUNCTION s.f#() RETURNS text LANGUAGE sql AS $$SELECT " + kText + "$$",
           "CREATE TYPE s.e# AS ENUM (); ALTER TYPE s.e# ADD VALUE 'a'; COMMENT ON TYPE s.e# IS " +
               kText,
           "CREATE DOMAIN s.d# AS text CHECK (value <> " + kText + ")",
           "CREATE SCHEMA s#; COMMENT ON SCHEMA s# IS " + kText,
           "CREATE ROLE r#; COMMENT ON ROLE r# IS " + kText,
           "ALTER ROLE r SET a.b# = " + kText,
           "CREATE PUBLICATION p# FOR TABLE t WHERE (a > length(" + kText + "))",
       }) {
    INFO(statement.substr(0, 40));
    CHECK(fill(statement) == "53200");
    // Others go on, also with what there is.
    CHECK(db.run("ALTER TABLE t ALTER a SET DEFAULT 1; INSERT INTO t VALUES (1)") ==
          "ALTER TABLE INSERT 0 1");
    CHECK(db.run("ALTER TABLE t ALTER a DROP DEFAULT; ANALYZE t") == "ALTER TABLE ANALYZE");
    db.run(
        "DO $$ DECLARE n text; BEGIN "
        "FOR n IN SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]*$' LOOP EXECUTE "
        "'DROP SCHEMA ' || n || ' CASCADE'; END LOOP; "
        "FOR n IN SELECT rolname FROM pg_roles WHERE rolname ~ '^r[0-9]+$' LOOP EXECUTE 'DROP "
        "ROLE ' || n; END LOOP; "
        "FOR n IN SELECT pubname FROM pg_publication LOOP EXECUTE 'DROP PUBLICATION ' || n; END "
        "LOOP; "
        "FOR n IN SELECT relname FROM pg_class WHERE relname ~ '^t[0-9]+$' LOOP EXECUTE 'DROP "
        "TABLE ' || n; END LOOP; END $$");
    db.run("ALTER ROLE r RESET ALL; CREATE SCHEMA s");
    db.run("DISCARD ALL");
    CHECK(memory.used_bytes() < before + (std::size_t{1} << 19U));
  }
  CHECK(db.run("BEGIN; CREATE FUNCTION s.f() RETURNS text LANGUAGE sql AS $$SELECT " + kText +
               "$$") == "BEGIN CREATE FUNCTION");
  const std::size_t within = memory.used_bytes();
  CHECK(db.run("ROLLBACK") == "ROLLBACK");
  CHECK(within > memory.used_bytes() + 4 * 20'000);
}

TEST_CASE("the names of types are forgotten with them", "[session][memory][book]") {
  TestDatabase db;
  const auto number = [&](const std::string& name) {
    const std::string told = db.run("SELECT '" + name + "'::regtype::oid");
    return TypeId{static_cast<std::uint32_t>(std::stoul(told))};
  };
  db.run("CREATE TYPE e AS ENUM ('a'); CREATE TEMP TABLE t(a int); CREATE TYPE c AS (x int)");
  const TypeId e = number("e");
  const TypeId t = number("t");
  const TypeId c = number("c");
  CHECK(noted_type_name(e) == "e");
  CHECK(noted_type_name(t) == "t");
  CHECK(noted_type_name(c) == "c");
  db.run("BEGIN; ALTER TYPE e ADD VALUE 'b'; ALTER TABLE t ADD b int; ROLLBACK");
  CHECK(noted_type_name(e) == "e");
  CHECK(noted_type_name(t) == "t");
  db.run("ALTER TYPE e RENAME TO f; ALTER TABLE t RENAME TO u");
  CHECK(noted_type_name(e) == "f");
  CHECK(noted_type_name(t) == "u");
  db.run("DROP TYPE f; DROP TABLE u; DROP TYPE c");
  db.run("DISCARD ALL");
  CHECK(noted_type_name(e).empty());
  CHECK(noted_type_name(t).empty());
  CHECK(noted_type_name(c).empty());
}

TEST_CASE("temporary files are bounded for a session and for all of them",
          "[session][memory][book]") {
  TestDatabase db;
  const std::string sort =
      "SELECT count(*) FROM (SELECT i FROM generate_series(1, 100000) i ORDER BY -i) x";
  CHECK(db.run("SET work_mem = '64kB'") == "SET");
  CHECK(db.run(sort) == "100000 SELECT 1");
  CHECK(db.run("SET temp_file_limit = '100kB'") == "SET");
  CHECK(db.run(sort) == "53400 temporary file size exceeds temp_file_limit (100kB)");
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
  CHECK(db.run("SET temp_file_limit = -1") == "SET");
  TemporaryFiles& all = *db.database().shared().temporary_files;
  all.set_server_limit(std::uint64_t{200} << 10U);
  CHECK(db.run(sort) ==
        "53400 temporary files of all sessions exceed server_temp_file_limit (200kB)");
  CHECK(all.server_bytes() == 0);
  all.set_server_limit(TemporaryFiles::kNoLimit);
  CHECK(db.run(sort) == "100000 SELECT 1");
  CHECK(db.run("CREATE ROLE bob; SET ROLE bob") == "CREATE ROLE SET");
  CHECK(db.run("SET temp_file_limit = 5") ==
        "42501 permission denied to set parameter \"temp_file_limit\"");
}

TEST_CASE("pg_stat_statements that is full forgets what ran least", "[session][memory][book]") {
  StatementRegistry registry;
  const StatementCountersPtr often = registry.of(kNoOid, "often");
  often->counters.add(StatementCounted::calls, 1000);
  for (int i = 0; i < 20'000; ++i) {
    registry.of(kNoOid, "shape " + std::to_string(i))->counters.add(StatementCounted::calls);
    if (i % 200 == 0) often->counters.add(StatementCounted::calls, 5);
  }
  CHECK(registry.all().size() <= StatementRegistry::kMost);
  CHECK(registry.all().size() > StatementRegistry::kMost / 10 * 9);
  CHECK(registry.of(kNoOid, "often") == often);
  const auto all = registry.all();
  const auto has = [&](const std::string& text) {
    return std::ranges::find(all, text, [](const auto& one) { return one->text; }) != all.end();
  };
  CHECK(has("shape 19999"));
  CHECK_FALSE(has("shape 0"));
}

}  // namespace swizzle::sql
