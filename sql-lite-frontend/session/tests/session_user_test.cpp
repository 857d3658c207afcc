#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

/// Returns the user of a session started with this parameter, or the error.
std::string who(TestDatabase& db, const std::string& role, const std::string& parameter,
                const std::string& value) {
  SessionOptions options;
  options.user = role;
  options.backend_pid = 100;
  if (!parameter.empty()) options.parameters = {{parameter, value}};
  auto session = db.database().connect(std::move(options));
  if (!session) {
    return std::string{session.error().state.code()} + " " + session.error().message;
  }
  return db.run(**session, "SELECT session_user, current_user");
}

}  // namespace

TEST_CASE("A start-up packet gives nobody another role's rights", "[sql][session][roles]") {
  TestDatabase db;
  db.run("CREATE ROLE ann LOGIN");
  CHECK(who(db, "ann", "role", "postgres") == "42501 permission denied to set role \"postgres\"");
  CHECK(who(db, "ann", "session_authorization", "postgres") ==
        "42501 permission denied to set session authorization");
  CHECK(who(db, "postgres", "role", "ann") == "postgres|ann SELECT 1");
  CHECK(who(db, "postgres", "session_authorization", "ann") == "ann|ann SELECT 1");
}

TEST_CASE("A stored setting gives nobody another role's rights", "[sql][session][roles]") {
  TestDatabase db;
  db.run("CREATE ROLE ann LOGIN");
  CHECK(db.run("ALTER ROLE ann SET role = 'postgres'") == "ALTER ROLE");
  CHECK(who(db, "ann", {}, {}) == "ann|ann SELECT 1");
  CHECK(db.run("ALTER ROLE ann SET session_authorization = 'postgres'") == "ALTER ROLE");
  CHECK(who(db, "ann", {}, {}) == "ann|ann SELECT 1");
  CHECK(db.run("ALTER DATABASE postgres SET role = 'postgres'") == "ALTER DATABASE");
  CHECK(who(db, "ann", {}, {}) == "ann|ann SELECT 1");
}

}  // namespace swizzle::sql
