#include "server/observability/role_answers.h"

#include <catch2/catch.hpp>
#include <string>

namespace swizzle::server {

TEST_CASE("a server says to balancers what it is", "[observability]") {
  const auto codes = [](std::string_view path) {
    const auto primary = role_answer(path, {.role = ServerRole::primary}, "ready");
    const auto standby = role_answer(path, {.role = ServerRole::warm_standby}, "behind");
    const auto readable = role_answer(path, {.role = ServerRole::hot_standby}, "behind");
    if (!primary || !standby || !readable) return std::string{"none"};
    CHECK(primary->body == "ready\n");
    CHECK(standby->body == "behind\n");
    return std::to_string(primary->status) + " " + std::to_string(standby->status) + " " +
           std::to_string(readable->status);
  };
  for (const char* path : {"/primary", "/read-write", "/leader"})
    CHECK(codes(path) == "200 503 503");
  for (const char* path : {"/read-only", "/health", "/readiness"})
    CHECK(codes(path) == "200 503 200");
  // A standby that answers no queries takes no reader's load.
  CHECK(codes("/replica") == "503 503 200");
  for (const char* path : {"/sync", "/async"}) CHECK(codes(path) == "503 503 503");
  CHECK(codes("/liveness") == "200 200 200");
  CHECK(codes("/primaries") == "none");
}

TEST_CASE("a standby that lags more than is asked for serves no reads", "[observability]") {
  const auto code = [](std::string_view target, ServerRole role = ServerRole::hot_standby) {
    const ServerPlace place{.role = role, .replay_lag_bytes = 10 << 20U, .write_lag_bytes = 5};
    const auto answer = role_answer(target, place, "");
    return answer ? answer->status : 0;
  };
  CHECK(code("/replica") == 200);
  CHECK(code("/replica?lag=10485760") == 200);
  CHECK(code("/replica?lag=10485759") == 503);
  CHECK(code("/replica?lag=10MB") == 200);
  CHECK(code("/replica?lag=9MB") == 503);
  CHECK(code("/replica?lag=10240kB") == 200);
  CHECK(code("/replica?lag=10kB") == 503);
  CHECK(code("/replica?other=1&lag=1GB") == 200);
  CHECK(code("/replica?other=1&lag=0") == 503);
  CHECK(code("/read-only?lag=1MB") == 503);
  CHECK(code("/readiness?lag=1MB&mode=apply") == 503);
  CHECK(code("/readiness?lag=1MB&mode=write") == 200);
  CHECK(code("/health?lag=0") == 200);
  // As Patroni does.
  for (const char* odd :
       {"/replica?lag=", "/replica?lag=much", "/replica?lag=1mb", "/replica?lag=-1"})
    CHECK(code(odd) == 200);
  CHECK(code("/replica?lag=1e300TB") == 200);
  CHECK(code("/read-only?lag=0", ServerRole::primary) == 200);
  CHECK(code("/replica?lag=1GB", ServerRole::warm_standby) == 503);
}

}  // namespace swizzle::server
