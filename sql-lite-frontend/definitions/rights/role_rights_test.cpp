#include "sql-lite-frontend/definitions/rights/role_rights.h"

#include <catch2/catch.hpp>

using namespace swizzle::sql;

TEST_CASE("createrole_self_grant is a list of set and inherit", "[sql][definitions]") {
  const auto none = self_grant_options("  ");
  REQUIRE(none);
  CHECK_FALSE(none->any());
  const auto both = self_grant_options("SET, inherit");
  REQUIRE(both);
  CHECK(both->set == true);
  CHECK(both->inherit == true);
  CHECK_FALSE(both->admin.has_value());
  for (const char* wrong : {"admin", "set inherit", "set,", ",set", "set,,inherit"}) {
    INFO(wrong);
    const auto refused = self_grant_options(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().state().code() == "22023");
    CHECK_FALSE(refused.error().detail().empty());
  }
}
