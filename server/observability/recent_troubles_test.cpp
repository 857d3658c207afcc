#include "server/observability/recent_troubles.h"

#include <catch2/catch.hpp>

using namespace swizzle::server;

TEST_CASE("warnings and errors of the log are kept, the latest first, and no others",
          "[observability]") {
  RecentTroubles troubles;
  LogSubject subject;
  subject.user = "ann";
  subject.database = "shop";
  subject.backend_pid = 7;
  troubles.note(1, {.severity = "ERROR", .message = "one", .sqlstate = "42P01"}, &subject);
  troubles.note(2, {.severity = "LOG", .message = "two"}, nullptr);
  troubles.note(3, {.severity = "WARNING", .message = "three"}, nullptr);
  troubles.note(4, {.severity = "FATAL", .message = "four", .statement = "SELECT"}, nullptr);
  const std::vector<Trouble> all = troubles.since(0);
  REQUIRE(all.size() == 3);
  CHECK(all[0].message == "four");
  CHECK(all[0].statement == "SELECT");
  CHECK(all[1].user.empty());
  CHECK(all[2].user == "ann");
  CHECK(all[2].database == "shop");
  CHECK(all[2].sqlstate == "42P01");
  CHECK(all[2].backend_pid == 7);
  CHECK(troubles.since(3).size() == 2);
  CHECK(troubles.since(5).empty());
}

TEST_CASE("kept errors are bounded in number and length, and no character is cut in two",
          "[observability]") {
  RecentTroubles troubles;
  std::string long_text(RecentTroubles::kLongestMessage - 1, 'x');
  long_text += "ä and more";
  for (int i = 0; i < 1000; ++i) {
    troubles.note(i, {.severity = "ERROR", .message = long_text}, nullptr);
  }
  const std::vector<Trouble> all = troubles.since(0);
  CHECK(all.size() == RecentTroubles::kMost);
  CHECK(all.front().at_us == 999);
  CHECK(all.front().message == std::string(RecentTroubles::kLongestMessage - 1, 'x') + "…");
}
