#include <algorithm>
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/test_database.h"

namespace swizzle::sql {

TEST_CASE("Errors keep their position when a COPY has read over the message", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int)");
  std::string message = "COPY t FROM STDIN; SELECT 'é', missing";
  db.sink().copy_input = "1\n";
  // As the server does: the data come into the memory that the message was in.
  db.sink().before_copy_input = [&] { std::ranges::fill(message, '\x80'); };
  const Outcome outcome = db.session().simple_query(message, db.sink());
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().state.code() == "42703");
  CHECK(outcome.error().position == 32);
}

}  // namespace swizzle::sql
