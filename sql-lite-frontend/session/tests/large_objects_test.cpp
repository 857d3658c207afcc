// Large objects, for what the corpus cannot test: random changes beside a model, other sessions and
// restarts.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <thread>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

std::string hex(std::string_view bytes) {
  std::string text = "\\x";
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// An object opened for writing in a transaction, and what it should hold.
class LargeObjectModel {
 public:
  LargeObjectModel(TestDatabase& db, std::uint64_t seed) : db_(db), random_(seed) {
    db_.run("BEGIN");
    db_.run("SELECT lo_create(500)");
    CHECK(db_.run("SELECT lo_open(500, x'60000'::int)") == "0 SELECT 1");
  }

  void step() {
    const auto place = static_cast<std::size_t>(random_.below(9000));
    switch (random_.below(6)) {
      case 0:
      case 1:
        return write(place);
      case 2:
        return truncate(place);
      case 3:
        return read(place);
      case 4:
        saved_ = bytes_;
        db_.run("SAVEPOINT s");
        return;
      default:
        if (!saved_) return;
        db_.run("ROLLBACK TO s");
        bytes_ = *saved_;
        return;
    }
  }
  void end() {
    CHECK(db_.run("SELECT lo_get(500)") == hex(bytes_) + " SELECT 1");
    CHECK(db_.run("SELECT lo_lseek(0, 0, 2)") == fmt::format("{} SELECT 1", bytes_.size()));
    CHECK(db_.run("COMMIT") == "COMMIT");
    CHECK(db_.run("SELECT lo_get(500)") == hex(bytes_) + " SELECT 1");
  }

 private:
  void write(std::size_t place) {
    std::string piece(random_.below(5000), '\0');
    for (char& byte : piece) byte = static_cast<char>('a' + random_.below(26));
    db_.run(fmt::format("SELECT lo_lseek(0, {}, 0), lowrite(0, '{}')", place, hex(piece)));
    if (piece.empty()) return;
    bytes_.resize(std::max(bytes_.size(), place + piece.size()));
    bytes_.replace(place, piece.size(), piece);
  }
  void truncate(std::size_t size) {
    CHECK(db_.run(fmt::format("SELECT lo_truncate(0, {})", size)) == "0 SELECT 1");
    bytes_.resize(size);
  }
  void read(std::size_t place) {
    const std::size_t size = random_.below(6000);
    const std::string expected = place < bytes_.size() ? bytes_.substr(place, size) : "";
    CHECK(db_.run(fmt::format("SELECT lo_lseek(0, {}, 0), loread(0, {})", place, size)) ==
          fmt::format("{}|{} SELECT 1", place, hex(expected)));
  }

  TestDatabase& db_;
  Random random_;
  std::string bytes_;
  std::optional<std::string> saved_;
};

}  // namespace

TEST_CASE("A large object holds what random writes, truncations and rollbacks leave in it",
          "[sql][large_objects]") {
  for_seeds(30, [](std::uint64_t seed) {
    TestDatabase db;
    LargeObjectModel model{db, seed};
    for (int i = 0; i < 60; ++i) model.step();
    model.end();
  });
}

TEST_CASE("Large objects are there after a restart, and go with their database",
          "[sql][large_objects]") {
  TestDatabase db;
  CHECK(db.run("SELECT lo_from_bytea(600, repeat('a', 10000)::bytea)") == "600 SELECT 1");
  db.run("CREATE ROLE friend; GRANT SELECT ON LARGE OBJECT 600 TO friend");
  db.run("COMMENT ON LARGE OBJECT 600 IS 'kept'");
  db.run("BEGIN; SELECT lo_create(601)");
  db.close();
  db.open();
  CHECK(db.run("SELECT length(lo_get(600)), obj_description(600, 'pg_largeobject')") ==
        "10000|kept SELECT 1");
  CHECK(db.run("SELECT oid, lomacl FROM pg_largeobject_metadata") ==
        "600|{postgres=rw/postgres,friend=r/postgres} SELECT 1");
  CHECK(db.run("SELECT count(*), sum(length(data)) FROM pg_largeobject") == "5|10000 SELECT 1");
  CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
  db.run("CREATE DATABASE other");
  SessionOptions options;
  options.database = "other";
  options.backend_pid = 77;
  {
    const auto session = db.database().connect(options);
    REQUIRE(session);
    CHECK(db.run(**session, "SELECT lo_get(600)") == "42704 large object 600 does not exist");
    CHECK(db.run(**session, "SELECT lo_from_bytea(600, 'x')") == "600 SELECT 1");
  }
  CHECK(db.run("DROP DATABASE other") == "DROP DATABASE");
  CHECK(db.run("CREATE DATABASE other") == "CREATE DATABASE");
  options.backend_pid = 78;
  const auto session = db.database().connect(options);
  REQUIRE(session);
  CHECK(db.run(**session, "SELECT count(*) FROM pg_largeobject_metadata") == "0 SELECT 1");
  CHECK(db.run(**session, "SELECT swizzle_verify()") == " SELECT 1");
}

TEST_CASE("Two sessions write parts of one page of a large object, and neither loses",
          "[sql][large_objects]") {
  TestDatabase db;
  db.run("SELECT lo_from_bytea(700, 'aaaaaaaaaa')");
  const std::unique_ptr<Session> other = db.connect();
  db.run("BEGIN; SELECT lo_put(700, 0, 'bb')");
  std::string outcome;
  std::thread writer{[&] {
    TestSink sink;
    const Outcome done = other->simple_query("SELECT lo_put(700, 8, 'cc')", sink);
    outcome = done ? "done" : std::string{done.error().state.code()};
  }};
  while (db.rows("SELECT count(*) FROM pg_locks WHERE NOT granted").at(0) == "0")
    std::this_thread::yield();
  db.run("COMMIT");
  writer.join();
  CHECK(outcome == "done");
  CHECK(db.run("SELECT encode(lo_get(700), 'escape')") == "bbaaaaaacc SELECT 1");

  // A snapshot that does not know the other's write must not write over it.
  db.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT lo_get(700)");
  CHECK(db.run(*other, "SELECT lo_put(700, 4, 'dd')") == " SELECT 1");
  CHECK_THAT(db.run("SELECT lo_put(700, 0, 'ee')"), Catch::StartsWith("40001"));
  db.run("ROLLBACK");
}

TEST_CASE("Who has opened a large object to write keeps it from being removed",
          "[sql][large_objects]") {
  TestDatabase db;
  db.run("SELECT lo_create(800)");
  const std::unique_ptr<Session> other = db.connect();
  db.run("BEGIN; SELECT lo_open(800, x'20000'::int)");
  db.run(*other, "SET lock_timeout = '20ms'");
  CHECK_THAT(db.run(*other, "SELECT lo_unlink(800)"), Catch::StartsWith("55P03"));
  db.run("SELECT lowrite(0, 'x')");
  db.run("COMMIT");
  CHECK(db.run(*other, "SELECT lo_unlink(800)") == "1 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM pg_largeobject") == "0 SELECT 1");
}
