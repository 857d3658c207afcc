// Indexes of ranges (USING gist) find the same rows as a full scan.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

class Ranges {
 public:
  Ranges(std::string type, std::uint64_t seed) : type_(std::move(type)), random_(seed) {}

  std::string value() { return bound(static_cast<std::int64_t>(random_.below(4000)) - 2000); }
  /// Returns a range of any length, possibly empty or unbounded.
  std::string range() {
    if (random_.below(25) == 0) return "'empty'";
    const auto from = static_cast<std::int64_t>(random_.below(4000)) - 2000;
    const auto length =
        static_cast<std::int64_t>(random_.below(std::uint64_t{2} << random_.below(12)));
    const std::string low = random_.below(12) == 0 ? "" : bound(from);
    const std::string high = random_.below(12) == 0 ? "" : bound(from + length);
    const bool is_point = length == 0;
    return std::string{"'"} + (is_point || random_.below(2) == 0 ? "[" : "(") + low + "," + high +
           (is_point || random_.below(2) == 0 ? "]" : ")") + "'";
  }

 private:
  std::string bound(std::int64_t number) const {
    if (type_ == "numrange") return std::to_string(number) + ".5";
    if (type_ == "floats") return std::to_string(number) + ".25";
    if (type_ == "daterange") return day(number);
    if (type_ == "tsrange") {
      const std::int64_t hour = below(number, 24);
      return day((number - hour) / 24) + " " + two(hour) + ":00";
    }
    return std::to_string(number);
  }
  static std::int64_t below(std::int64_t number, std::int64_t of) {
    return ((number % of) + of) % of;
  }
  static std::string two(std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  }
  /// Returns a date in a calendar of twelve months of 28 days.
  static std::string day(std::int64_t number) {
    const std::int64_t in_year = below(number, 336);
    return std::to_string(2000 + (number - in_year) / 336) + "-" + two(1 + in_year / 28) + "-" +
           two(1 + in_year % 28);
  }

  std::string type_;
  Random random_;
};

}  // namespace

TEST_CASE("An index of ranges finds what reading the table finds", "[sql][session][range_index]") {
  constexpr std::uint64_t kSeed = 20261126;
  TestDatabase db;
  db.run("CREATE TYPE floats AS RANGE (subtype = float8)");
  const std::pair<std::string, std::string> types[] = {
      {"int4range", "int4"},    {"int8range", "int8"},   {"daterange", "date"},
      {"tsrange", "timestamp"}, {"numrange", "numeric"}, {"floats", "float8"}};
  for (const auto& [type, subtype] : types) {
    INFO(type << ", seed " << kSeed);
    Ranges ranges{type, kSeed};
    db.run("DROP TABLE IF EXISTS t; CREATE TABLE t(id int PRIMARY KEY, r " + type + ")");
    REQUIRE(db.run("CREATE INDEX tr ON t USING gist (r)") == "CREATE INDEX");
    std::string values;
    for (int i = 0; i < 700; ++i) {
      values += (i > 0 ? ", (" : "(") + std::to_string(i) + ", " +
                (i % 40 == 0 ? std::string{"NULL"} : ranges.range()) + ")";
    }
    REQUIRE(db.run("INSERT INTO t VALUES " + values) == "INSERT 0 700");
    db.run("DELETE FROM t WHERE id % 7 = 0; UPDATE t SET r = " + ranges.range() +
           " WHERE id % 11 = 0");
    std::vector<std::string> conditions;
    for (int i = 0; i < 12; ++i) {
      const std::string range = ranges.range() + "::" + type;
      for (const char* op : {"&&", "@>", "<@", "=", "<<", ">>", "&<", "&>", "-|-"}) {
        conditions.push_back("r " + std::string{op} + " " + range);
        conditions.push_back(range + " " + op + " r");
      }
      const std::string value = "'" + ranges.value() + "'::" + subtype;
      conditions.push_back("r @> " + value);
      conditions.push_back(value + " <@ r");
    }
    std::size_t found = 0;
    for (const std::string& condition : conditions) {
      INFO(condition);
      const std::string query = "SELECT id FROM t WHERE " + condition;
      db.run("SET enable_seqscan = off; SET enable_indexscan = on");
      // &< and &> have no commutator, so no index serves them with the column on the right.
      const bool helps = !condition.contains("&< r") && !condition.contains("&> r");
      CHECK(db.explain(query).contains("Index Scan using tr") == helps);
      const std::vector<std::string> by_index = db.sorted_rows(query);
      db.run("SET enable_seqscan = on; SET enable_indexscan = off");
      CHECK_FALSE(db.explain(query).contains("Index Scan using tr"));
      REQUIRE(by_index == db.sorted_rows(query));
      found += by_index.size();
    }
    CHECK(found > 1000);
    db.run("RESET ALL");
  }
}

TEST_CASE("An index of ranges is chosen where it saves work, and survives a restart",
          "[sql][session][range_index]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, r int4range)");
  db.run("INSERT INTO t SELECT i, int4range(i * 10, i * 10 + 15) FROM generate_series(1, 20000) i");
  REQUIRE(db.run("CREATE INDEX tr ON t USING gist (r)") == "CREATE INDEX");
  db.run("ANALYZE t");
  db.close();
  db.open();
  const std::string query = "SELECT id FROM t WHERE r @> 5003";
  CHECK(db.explain(query).contains("Index Scan using tr on t"));
  CHECK(db.sorted_rows(query) == std::vector<std::string>{"499", "500"});
  CHECK(db.run("SELECT count(*) FROM t WHERE r && '[100,130)'") == "4 SELECT 1");
  db.run("PREPARE p(int4range) AS SELECT count(*) FROM t WHERE r && $1");
  CHECK(db.run("EXECUTE p('[100,130)')") == "4 SELECT 1");
  CHECK(db.run("EXECUTE p('empty')") == "0 SELECT 1");
  CHECK(db.run("EXECUTE p(NULL)") == "0 SELECT 1");
  CHECK(db.run("BEGIN; DELETE FROM t WHERE id = 500; SELECT count(*) FROM t WHERE r @> 5003; "
               "ROLLBACK; SELECT count(*) FROM t WHERE r @> 5003") ==
        "1 2 BEGIN DELETE 1 SELECT 1 ROLLBACK SELECT 1");
}
