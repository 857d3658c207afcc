#include "server/observability/role_answers.h"

#include <catch2/catch.hpp>
#include <string>

namespace swizzle::server {

TEST_CASE("a server says to balancers what it is", "[observability]") {
  const auto codes = [](std::string_view path) {
    const auto primary = role_answer(path, ServerRole::primary, "ready");
    const auto standby = role_answer(path, ServerRole::warm_standby, "behind");
    if (!primary || !standby) return std::string{"none"};
    CHECK(primary->body == "ready\n");
    CHECK(standby->body == "behind\n");
    return std::to_string(primary->status) + " " + std::to_string(standby->status);
  };
  for (const char* path : {"/primary", "/read-write", "/leader", "/read-only", "/health"})
    CHECK(codes(path) == "200 503");
  // A standby that answers no queries takes no reader's load.
  for (const char* path : {"/replica", "/sync", "/async"}) CHECK(codes(path) == "503 503");
  CHECK(codes("/liveness") == "200 200");
  CHECK(codes("/primaries") == "none");
}

}  // namespace swizzle::server
