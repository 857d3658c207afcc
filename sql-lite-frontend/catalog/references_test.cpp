#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr const char* kReferenced = "23503 update or delete on table \"p\" violates foreign key";

}  // namespace

// References to a table are read from records of their own, without reading all definitions.
TEST_CASE("Who refers to a table is known after a restart", "[sql][catalog]") {
  TestDatabase db;
  const auto delete_parent = [&] { return db.run("DELETE FROM p").substr(0, 56); };
  db.run("CREATE TABLE p(id int PRIMARY KEY)");
  db.run("CREATE TABLE c(id int PRIMARY KEY, p int REFERENCES p, q int REFERENCES p)");
  db.run("CREATE TABLE dropped(p int REFERENCES p)");
  db.run("CREATE TABLE altered(p int)");
  db.run("ALTER TABLE altered ADD CONSTRAINT k FOREIGN KEY (p) REFERENCES p");
  db.run("CREATE TABLE itself(id int PRIMARY KEY, up int REFERENCES itself)");
  db.run("BEGIN; CREATE TABLE undone(p int REFERENCES p); ROLLBACK");
  db.run("INSERT INTO p VALUES (1)");
  for (const char* child : {"dropped", "altered"}) {
    db.run(std::string{"INSERT INTO "} + child + " VALUES (1)");
  }
  db.run("DROP TABLE dropped");
  db.close();
  db.open();
  CHECK(delete_parent() == kReferenced);
  db.run("ALTER TABLE altered DROP CONSTRAINT k");
  CHECK(db.run("BEGIN; DELETE FROM p; ROLLBACK") == "BEGIN DELETE 1 ROLLBACK");
  db.close();
  db.open();
  CHECK(db.run("BEGIN; DELETE FROM p; ROLLBACK") == "BEGIN DELETE 1 ROLLBACK");
  // Two foreign keys to one table are one reference, which the other one keeps.
  db.run("INSERT INTO c VALUES (1, NULL, 1)");
  db.run("ALTER TABLE c DROP CONSTRAINT c_p_fkey");
  db.close();
  db.open();
  CHECK(delete_parent() == kReferenced);
  CHECK(db.run("TRUNCATE p").substr(0, 5) == "0A000");
  db.run("DROP TABLE p CASCADE");
  CHECK(db.run("INSERT INTO c VALUES (2, NULL, 77)") == "INSERT 0 1");
  db.run("INSERT INTO itself VALUES (1, NULL), (2, 1)");
  db.close();
  db.open();
  CHECK(db.run("DELETE FROM itself WHERE id = 1").substr(0, 5) == "23503");
}
