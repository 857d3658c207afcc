// Keys WITHOUT OVERLAPS and foreign keys with PERIOD: with concurrent sessions, against a model,
// and across a restart. Cases of a single session are in the corpus.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr const char* kBusy = "55P03";
constexpr const char* kExcluded = "23P01";
constexpr const char* kNoParent = "23503";
constexpr const char* kEmpty = "23514";

/// Prices of goods, and orders that need one for all of their time.
void make_tables(TestDatabase& db, const std::string& words = {}) {
  db.run("CREATE EXTENSION btree_gist");
  REQUIRE(db.run("CREATE TABLE p (id int, valid int4range, note int, "
                 "CONSTRAINT p_pk PRIMARY KEY (id, valid WITHOUT OVERLAPS))") == "CREATE TABLE");
  REQUIRE(db.run("CREATE TABLE c (id int PRIMARY KEY, p int, valid int4range, "
                 "CONSTRAINT fk FOREIGN KEY (p, PERIOD valid) REFERENCES p " +
                 words + ")") == "CREATE TABLE");
}

std::string range(int from, int to) {
  return "'[" + std::to_string(from) + "," + std::to_string(to) + ")'";
}

}  // namespace

TEST_CASE("A key WITHOUT OVERLAPS waits for what another session is inserting or removing",
          "[sql][session][temporal]") {
  TestDatabase db;
  make_tables(db);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = '30ms'");
  db.run("INSERT INTO p VALUES (1, '[1,5)')");
  const auto insert = [&](int id, int from, int to) {
    return db.run(*other,
                  "INSERT INTO p VALUES (" + std::to_string(id) + ", " + range(from, to) + ")");
  };
  db.run("BEGIN; INSERT INTO p VALUES (1, '[5,9)')");
  CHECK_THAT(insert(1, 8, 10), StartsWith(kBusy));
  CHECK(insert(2, 8, 10) == "INSERT 0 1");
  db.run("COMMIT");
  CHECK_THAT(insert(1, 8, 10), StartsWith(kExcluded));
  db.run("BEGIN; DELETE FROM p WHERE id = 1 AND valid = '[5,9)'");
  CHECK_THAT(insert(1, 8, 10), StartsWith(kBusy));
  db.run("ROLLBACK");
  CHECK_THAT(insert(1, 8, 10), StartsWith(kExcluded));
  db.run("BEGIN; UPDATE p SET valid = '[5,8)' WHERE id = 1 AND valid = '[5,9)'");
  CHECK_THAT(insert(1, 8, 10), StartsWith(kBusy));
  db.run("COMMIT");
  CHECK(insert(1, 8, 10) == "INSERT 0 1");
}

TEST_CASE("A row with PERIOD waits for sessions that change the rows that cover it",
          "[sql][session][temporal]") {
  TestDatabase db;
  make_tables(db);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = '30ms'");
  db.run("INSERT INTO p VALUES (1, '[1,5)'), (1, '[5,9)'), (2, '[1,9)')");
  const auto refer = [&] { return db.run(*other, "INSERT INTO c VALUES (1, 1, '[2,7)')"); };
  for (const char* gives_up : {"DELETE FROM p WHERE id = 1 AND valid = '[5,9)'",
                               "UPDATE p SET valid = '[6,9)' WHERE id = 1 AND valid = '[5,9)'",
                               "UPDATE p SET id = 3 WHERE id = 1 AND valid = '[5,9)'"}) {
    INFO(gives_up);
    db.run("BEGIN");
    db.run(gives_up);
    CHECK_THAT(refer(), StartsWith(kBusy));
    db.run("ROLLBACK");
    CHECK(refer() == "INSERT 0 1");
    db.run("DELETE FROM c");
    db.run("BEGIN");
    db.run(gives_up);
    db.run("COMMIT");
    CHECK_THAT(refer(), StartsWith(kNoParent));
    db.run("DELETE FROM p WHERE id IN (1, 3) AND valid <> '[1,5)'");
    db.run("INSERT INTO p VALUES (1, '[5,9)')");
  }
  SECTION("changes of other columns keep nobody waiting") {
    db.run("BEGIN; UPDATE p SET note = 1");
    CHECK(refer() == "INSERT 0 1");
    db.run("ROLLBACK");
  }
  SECTION("what is referred to is changed only when the other session has ended") {
    db.run(*other, "BEGIN");
    REQUIRE(refer() == "INSERT 0 1");
    db.run("SET lock_timeout = '30ms'");
    const std::string remove = "DELETE FROM p WHERE id = 1 AND valid = '[5,9)'";
    CHECK_THAT(db.run(remove), StartsWith(kBusy));
    CHECK_THAT(db.run("UPDATE p SET valid = '[5,10)' WHERE id = 1 AND valid = '[5,9)'"),
               StartsWith(kBusy));
    CHECK(db.run("UPDATE p SET note = 1 WHERE id = 1") == "UPDATE 2");
    db.run(*other, "COMMIT");
    CHECK_THAT(db.run(remove), StartsWith(kNoParent));
    CHECK(db.run("UPDATE p SET valid = '[5,10)' WHERE id = 1 AND valid = '[5,9)'") == "UPDATE 1");
    CHECK(db.run("DELETE FROM c") == "DELETE 1");
    CHECK(db.run("DELETE FROM p WHERE id = 1") == "DELETE 2");
  }
}

TEST_CASE("A row cannot refer to what has gone since its snapshot", "[sql][session][temporal]") {
  TestDatabase db;
  make_tables(db);
  const auto other = db.connect();
  const std::string begin =
      std::string{"BEGIN ISOLATION LEVEL "} + GENERATE("REPEATABLE READ", "SERIALIZABLE");
  INFO(begin);
  db.run("INSERT INTO p VALUES (1, '[1,5)'), (1, '[5,9)')");
  db.run(*other, begin);
  REQUIRE(db.run(*other, "SELECT count(*) FROM p") == "2 SELECT 1");
  db.run("DELETE FROM p WHERE valid = '[5,9)'");
  CHECK_THAT(db.run(*other, "INSERT INTO c VALUES (1, 1, '[2,7)')"), StartsWith("40001"));
  db.run(*other, "ROLLBACK");
  // A referring row that came after the snapshot keeps the row that it refers to.
  db.run(*other, begin);
  REQUIRE(db.run(*other, "SELECT count(*) FROM p") == "1 SELECT 1");
  REQUIRE(db.run("INSERT INTO c VALUES (1, 1, '[2,4)')") == "INSERT 0 1");
  const std::string outcome = db.run(*other, "DELETE FROM p");
  INFO(outcome);
  CHECK((outcome.starts_with(kNoParent) || outcome.starts_with("40001")));
  db.run(*other, "ROLLBACK");
}

TEST_CASE("A deferred check is not lost when the range gets shorter", "[sql][session][temporal]") {
  TestDatabase db;
  make_tables(db, "DEFERRABLE INITIALLY DEFERRED");
  db.run("INSERT INTO p VALUES (1, '[1,5)')");
  db.run("BEGIN; INSERT INTO c VALUES (1, 1, '[1,90)'); UPDATE c SET valid = '[1,80)'");
  CHECK_THAT(db.run("COMMIT"), StartsWith(kNoParent));
  db.run("BEGIN; INSERT INTO c VALUES (1, 1, '[1,90)'); UPDATE c SET valid = '[1,4)'");
  CHECK(db.run("COMMIT") == "COMMIT");
}

TEST_CASE("Keys WITHOUT OVERLAPS and PERIOD are the same after a restart",
          "[sql][session][temporal]") {
  TestDatabase db;
  make_tables(db);
  db.run("INSERT INTO p VALUES (1, '[1,5)'); INSERT INTO c VALUES (1, 1, '[1,4)')");
  const std::string definitions = db.run(
      "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
      "WHERE conrelid IN ('p'::regclass, 'c'::regclass) ORDER BY 1");
  CHECK_THAT(definitions, Contains("PRIMARY KEY (id, valid WITHOUT OVERLAPS)"));
  CHECK_THAT(definitions, Contains("FOREIGN KEY (p, PERIOD valid) REFERENCES p(id, PERIOD valid)"));
  db.close();
  db.open();
  CHECK(db.run("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
               "WHERE conrelid IN ('p'::regclass, 'c'::regclass) ORDER BY 1") == definitions);
  CHECK_THAT(db.run("INSERT INTO p VALUES (1, '[4,9)')"), StartsWith(kExcluded));
  CHECK_THAT(db.run("INSERT INTO p VALUES (1, 'empty')"), StartsWith(kEmpty));
  CHECK_THAT(db.run("INSERT INTO c VALUES (2, 1, '[4,9)')"), StartsWith(kNoParent));
  CHECK_THAT(db.run("DELETE FROM p"), StartsWith(kNoParent));
  CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
}

namespace {

struct Period {
  int key = 0;
  int from = 0;
  int to = 0;
};
struct Model {
  std::map<int, Period> parents;
  std::map<int, Period> children;

  [[nodiscard]] bool is_apart(int number, const Period& wanted) const {
    return std::ranges::none_of(parents, [&](const auto& row) {
      const Period& other = row.second;
      return row.first != number && other.key == wanted.key && other.from < wanted.to &&
             wanted.from < other.to;
    });
  }
  [[nodiscard]] bool is_covered(const Period& child) const {
    for (int day = child.from; day < child.to; ++day) {
      const bool has_day = std::ranges::any_of(parents, [&](const auto& row) {
        const Period& parent = row.second;
        return parent.key == child.key && parent.from <= day && day < parent.to;
      });
      if (!has_day) return false;
    }
    return true;
  }
  [[nodiscard]] bool holds() const {
    return std::ranges::all_of(children, [&](const auto& row) { return is_covered(row.second); });
  }
};

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  int below(int count) {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(count)));
  }
  Period period(int longest) {
    const int from = below(20);
    return {below(2), from, from + 1 + below(longest)};
  }

 private:
  Random random_;
};

std::string values_of(int number, const Period& row) {
  return "(" + std::to_string(row.key) + ", " + range(row.from, row.to) + ", " +
         std::to_string(number) + ")";
}

/// A statement, what it makes of the model, and the error that it must give, or none.
struct Step {
  std::string sql;
  Model after;
  std::string error;
};

Step step_of_parent(Chance& chance, const Model& model) {
  const int number = chance.below(12);
  const Period wanted = chance.period(8);
  Step step{{}, model, {}};
  const std::string where = " WHERE note = " + std::to_string(number);
  if (!model.parents.contains(number)) {
    step.sql = "INSERT INTO p VALUES " + values_of(number, wanted);
    step.after.parents[number] = wanted;
  } else if (chance.below(3) == 0) {
    step.sql = "DELETE FROM p" + where;
    step.after.parents.erase(number);
  } else {
    step.sql = "UPDATE p SET id = " + std::to_string(wanted.key) +
               ", valid = " + range(wanted.from, wanted.to) + where;
    step.after.parents[number] = wanted;
  }
  if (step.after.parents.contains(number) && !model.is_apart(number, wanted)) {
    step.error = kExcluded;
  } else if (!step.after.holds()) {
    step.error = kNoParent;
  }
  return step;
}

Step step_of_child(Chance& chance, const Model& model) {
  const int number = chance.below(8);
  const Period wanted = chance.period(10);
  Step step{{}, model, {}};
  const std::string where = " WHERE id = " + std::to_string(number);
  if (chance.below(4) == 0) {
    step.sql = "DELETE FROM c" + where;
    step.after.children.erase(number);
    return step;
  }
  const std::string columns = std::to_string(wanted.key) + ", " + range(wanted.from, wanted.to);
  step.sql = model.children.contains(number)
                 ? "UPDATE c SET (p, valid) = (" + columns + ")" + where
                 : "INSERT INTO c VALUES (" + std::to_string(number) + ", " + columns + ")";
  step.after.children[number] = wanted;
  if (!model.is_covered(wanted)) step.error = kNoParent;
  return step;
}

}  // namespace

TEST_CASE("Random rows with PERIOD are taken where a model finds them covered",
          "[sql][session][temporal]") {
  constexpr std::uint64_t kSeed = 20261130;
  INFO("seed " << kSeed);
  TestDatabase db;
  make_tables(db);
  Chance chance{kSeed};
  Model model;
  std::map<std::string, int> outcomes;
  for (int round = 0; round < 3000; ++round) {
    const Step step =
        chance.below(2) == 0 ? step_of_parent(chance, model) : step_of_child(chance, model);
    const std::string outcome = db.run(step.sql);
    INFO("round " << round << ": " << step.sql << ": " << outcome);
    if (step.error.empty()) {
      REQUIRE_FALSE(outcome.starts_with("23"));
      model = step.after;
    } else {
      REQUIRE_THAT(outcome, StartsWith(step.error));
    }
    ++outcomes[step.error];
  }
  CHECK(outcomes[""] > 300);
  CHECK(outcomes[kExcluded] > 100);
  CHECK(outcomes[kNoParent] > 300);
  CHECK(db.run("SELECT count(*) FROM p") == std::to_string(model.parents.size()) + " SELECT 1");
  CHECK(db.run("ALTER TABLE c ADD FOREIGN KEY (p, PERIOD valid) REFERENCES p") == "ALTER TABLE");
}
