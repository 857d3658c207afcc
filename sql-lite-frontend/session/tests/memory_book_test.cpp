#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

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
};

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
  for (const Chapter& chapter : book()) {
    std::unique_ptr<Session> session = db.connect();
    db.run(*session, "SET session_memory_limit = '16MB'");
    const std::size_t before = resident_bytes();
    const std::string outcome = chapter.run(*session);
    const std::size_t after = resident_bytes();
    INFO(chapter.name << ": " << (after > before ? (after - before) >> 20U : 0) << " MB, "
                      << total.used_bytes() << " bytes counted");
    CHECK((outcome.starts_with("53200") || outcome.starts_with("54000") ? "refused" : outcome) ==
          "refused");
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
