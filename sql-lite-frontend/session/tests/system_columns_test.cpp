#include <catch2/catch.hpp>
#include <random>

#include "sql-lite-frontend/session/tests/beside.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/system/row_places.h"

/// xmin and ctid, beside other sessions and restarts. The corpus script system_columns has what one
/// session sees.
namespace swizzle::sql {
namespace {

constexpr const char* kTypes =
    "CREATE TABLE typed(id int PRIMARY KEY, i2 int2, i8 int8, f4 float4, f8 float8, n numeric, "
    "n2 numeric(8, 3), b bool, t text, v varchar(10), c char(8), bytes bytea, j jsonb, js json, "
    "d date, ts timestamp, tz timestamptz, ti time, tt timetz, iv interval, u uuid, a int[], "
    "ta text[], r int4range, net inet, bits varbit(70), v2 tsvector, p point, m money, "
    "g text GENERATED ALWAYS AS (t || '!') STORED, w text GENERATED ALWAYS AS (t || '?') VIRTUAL)";

/// Values of the columns after id, long or short.
std::string values_of(std::mt19937& random) {
  const auto number = std::to_string(random() % 1000 + 1);
  const std::string times = std::to_string(random() % 2 == 0 ? 3 : 4000);
  return "VALUES (" + number + ", " + number + "000000000, 1.5, -" + number + ".25, " + number +
         ".10, 1" + number + ".12345, true, repeat('é" + number + "', " + times + "), 'v" + number +
         "', 'c', '\\x00" + (number.size() % 2 == 0 ? number : "0" + number) +
         "', (SELECT jsonb_object_agg('k' || i, repeat('x', i)) FROM generate_series(1, " +
         std::to_string(random() % 200 + 1) +
         ") i), '{\"a\": 1.0}', '2026-01-02', '2026-01-02 3:4', "
         "'2026-01-02 3:4:5.6+02', '3:4', '3:4+05', '1 month 3 days', "
         "'12345678-1234-1234-1234-1234567890ab', '{1,null," +
         number + "}', '{a,\"b c\"}', '[1," + number +
         "0)', '10.0.0.1/8', B'101', 'a fat cat', '(1,2)', '12.34')";
}

constexpr const char* kColumns =
    "(i2, i8, f4, f8, n, n2, b, t, v, c, bytes, j, js, d, ts, tz, ti, tt, iv, u, a, ta, r, net, "
    "bits, v2, p, m)";

}  // namespace

TEST_CASE("A place is a key's, and places have the order of positive keys", "[sql][identity]") {
  std::mt19937_64 random{7};
  for (int i = 0; i < 20'000; ++i) {
    const auto bits = static_cast<unsigned>(random() % 47);
    auto key = static_cast<std::int64_t>(random() % (std::uint64_t{2} << bits));
    if (random() % 4 == 0) key = -key / 4;
    const auto place = RowPlaces::place_of(key);
    if (!place) {
      CHECK((key > std::int64_t{1} << 46 || key <= -(std::int64_t{1} << 45)));
      continue;
    }
    CHECK_FALSE(RowPlaces::is_given(*place));
    CHECK(RowPlaces::key_of(*place) == key);
    if (key < 1) continue;
    CHECK(RowPlaces::first_key_from(*place) == key);
    CHECK(RowPlaces::first_key_after(*place) == key + 1);
    // Between two blocks.
    const std::int64_t beyond = RowPlaces::tid(RowPlaces::block_of(*place), 40'000);
    CHECK(RowPlaces::first_key_from(beyond) == RowPlaces::first_key_after(beyond));
    CHECK_FALSE(RowPlaces::key_of(beyond));
  }
  CHECK(RowPlaces::place_of(1) == RowPlaces::tid(0, 1));
  CHECK(RowPlaces::place_of(32'769) == RowPlaces::tid(1, 1));
  CHECK_FALSE(RowPlaces::place_of(INT64_MAX));
  CHECK_FALSE(RowPlaces::place_of(INT64_MIN));
}

TEST_CASE("xmin of every type is what RETURNING said, also after a restart", "[sql][identity]") {
  SimulatedDisk disk;
  TestDatabase db{disk};
  REQUIRE(db.run(kTypes) == "CREATE TABLE");
  db.run("CREATE TABLE said(id int PRIMARY KEY, version xid)");
  std::mt19937 random{11};
  for (int id = 1; id <= 12; ++id) {
    const std::string row = values_of(random);
    INFO(row);
    const std::string inserted = "WITH w AS (INSERT INTO typed (id, " + std::string{kColumns + 1} +
                                 " " + "VALUES (" + std::to_string(id) + ", " + row.substr(8) +
                                 " RETURNING id, xmin) " + "INSERT INTO said SELECT * FROM w";
    REQUIRE(db.run(inserted) == "INSERT 0 1");
    if (id % 3 != 0) continue;
    const std::string updated = "WITH w AS (UPDATE typed SET " + std::string{kColumns} + " = ROW" +
                                values_of(random).substr(7) + " WHERE id = " + std::to_string(id) +
                                " RETURNING id, xmin) UPDATE said SET version = w.xmin FROM w "
                                "WHERE said.id = w.id";
    REQUIRE(db.run(updated) == "UPDATE 1");
  }
  const std::string same =
      "SELECT count(*) FROM typed JOIN said USING (id) WHERE typed.xmin = version";
  CHECK(db.run(same) == "12 SELECT 1");
  CHECK(db.run("SELECT count(DISTINCT version::text) FROM said") == "12 SELECT 1");
  db.close();
  db.open();
  CHECK(db.run(same) == "12 SELECT 1");
  // A column without values leaves the rows as they are.
  db.run("ALTER TABLE typed ADD COLUMN later int");
  CHECK(db.run(same) == "12 SELECT 1");
  db.run("UPDATE typed SET later = 1 WHERE id = 5");
  CHECK(db.run(same) == "11 SELECT 1");
}

TEST_CASE("An update by xmin that waited for another's finds no row", "[sql][identity]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)");
  for (const char* change : {"UPDATE t SET v = v + 1", "DELETE FROM t"}) {
    INFO(change);
    const std::string version = db.rows("SELECT xmin FROM t")[0];
    db.run("BEGIN");
    db.run(change);
    CHECK(answer_beside(db, *other,
                        "UPDATE t SET v = 100 WHERE id = 1 AND xmin = '" + version +
                            "' RETURNING v") == "UPDATE 0");
  }
}

TEST_CASE("Rows are found by ctids without reading the others", "[sql][identity]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE bare(a int, b text)");
  db.run("CREATE TABLE keyed(id int8 PRIMARY KEY, b text)");
  db.run("CREATE TABLE named(a int, b text, PRIMARY KEY (b, a))");
  for (const char* table : {"bare", "keyed", "named"}) {
    db.run("INSERT INTO " + std::string{table} +
           " SELECT g, 'b' || g % 7 FROM generate_series(1, 20000) g");
    db.run("ANALYZE " + std::string{table});
  }
  CHECK(db.explain("SELECT * FROM bare WHERE ctid = '(0,7)'") ==
        "Tid Scan on bare\n  TID Cond: (ctid = '(0,7)'::tid)\n");
  CHECK_THAT(db.explain("SELECT * FROM keyed WHERE ctid = '(0,7)'"),
             Catch::StartsWith("Index Scan using keyed_pkey"));
  CHECK(db.explain("SELECT * FROM bare WHERE ctid >= '(0,7)' AND ctid < '(0,9)'") ==
        "Tid Range Scan on bare\n"
        "  TID Cond: ((ctid >= '(0,7)'::tid) AND (ctid < '(0,9)'::tid))\n");
  for (const std::string table : {"bare", "keyed", "named"}) {
    INFO(table);
    const std::string by_list = "DELETE FROM " + table + " WHERE ctid IN (SELECT ctid FROM " +
                                table + " WHERE b = 'b3' LIMIT 500)";
    const std::string by_rows = "WITH batch AS (SELECT ctid FROM " + table +
                                " WHERE b = 'b3' LIMIT 500 FOR UPDATE) DELETE FROM " + table +
                                " USING batch WHERE " + table + ".ctid = batch.ctid";
    CHECK_THAT(db.explain(by_list), Catch::Contains("Nested Loop") || Catch::Contains("Hash"));
    CHECK_THAT(db.explain(by_list), Catch::Contains(table == "bare" ? "Tid Scan" : "Index Scan"));
    CHECK(db.run(by_list) == "DELETE 500");
    CHECK(db.run(by_rows) == "DELETE 500");
    CHECK(db.run("SELECT count(*) FROM " + table) == "19000 SELECT 1");
  }
  const std::string by_array =
      "DELETE FROM bare WHERE ctid = ANY (ARRAY(SELECT ctid FROM bare "
      "WHERE b = 'b4' LIMIT 100))";
  CHECK_THAT(db.explain(by_array), Catch::Contains("Tid Scan on bare"));
  CHECK(db.run(by_array) == "DELETE 100");

  // A ctid is the same in other transactions and sessions, and no other row's afterwards.
  const std::string place = db.rows("SELECT ctid FROM bare WHERE a = 6")[0];
  CHECK(db.run(*other, "UPDATE bare SET b = 'other' WHERE ctid = '" + place + "' RETURNING a") ==
        "6 UPDATE 1");
  CHECK(db.run("SELECT ctid FROM bare WHERE a = 6") == place + " SELECT 1");
  CHECK(db.run("UPDATE bare SET b = 'again' WHERE ctid = '" + place + "' RETURNING ctid") ==
        place + " UPDATE 1");
  CHECK(db.run("DELETE FROM bare WHERE a = 6") == "DELETE 1");
  db.run("INSERT INTO bare VALUES (6, 'new')");
  CHECK(db.run("SELECT a FROM bare WHERE ctid = '" + place + "'") == "SELECT 0");
}

TEST_CASE("A row that was written by its ctid is not found by it in its transaction",
          "[sql][identity]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (0, 0), (-5, 5)");
  db.run("BEGIN");
  CHECK(db.run("UPDATE t SET v = 2 WHERE ctid = '(0,1)'") == "UPDATE 1");
  CHECK(db.run("UPDATE t SET v = 3 WHERE ctid = '(0,1)'") == "UPDATE 0");
  const std::string now = db.rows("SELECT ctid FROM t WHERE id = 1")[0];
  CHECK(now != "(0,1)");
  db.run("SAVEPOINT s");
  CHECK(db.run("UPDATE t SET v = 4 WHERE ctid = '" + now + "'") == "UPDATE 1");
  CHECK(db.run("UPDATE t SET v = 5 WHERE ctid = '" + now + "'") == "UPDATE 0");
  db.run("ROLLBACK TO s");
  CHECK(db.run("UPDATE t SET v = 6 WHERE ctid = '" + now + "'") == "UPDATE 1");
  db.run("COMMIT");
  CHECK(db.run("SELECT v, ctid FROM t WHERE id = 1") == "6|(0,1) SELECT 1");
  CHECK_THAT(db.run("SELECT v FROM t WHERE ctid = '" + now + "'"), Catch::StartsWith("0A000"));
  for (const std::string id : {"0", "-5"}) {
    const std::string place = db.rows("SELECT ctid FROM t WHERE id = " + id)[0];
    CHECK(db.run("SELECT id FROM t WHERE ctid = '" + place + "'") == id + " SELECT 1");
  }
}

}  // namespace swizzle::sql
