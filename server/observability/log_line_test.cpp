#include "server/observability/log_line.h"

#include <catch2/catch.hpp>

using namespace swizzle::server;

namespace {

// 2026-11-20 13:05:09.123 UTC
const LogMoment kMoment{1'795'179'909'123'456, 4711};

LogSubject subject() {
  LogSubject subject;
  subject.user = "ann";
  subject.database = "shop";
  subject.application = "psql";
  subject.host = "10.0.0.7";
  subject.port = 40'000;
  subject.backend_pid = 1'001;
  subject.connected_us = 1'795'179'900'000'000;
  subject.line = 3;
  return subject;
}

std::string expanded(std::string_view prefix) {
  const LogSubject about = subject();
  return expand_prefix(prefix, kMoment, &about,
                       {.severity = "LOG", .message = "m", .command_tag = "SELECT"});
}

}  // namespace

TEST_CASE("each escape of the prefix stands for what it does in PostgreSQL", "[observability]") {
  CHECK(expanded("%a %u %d") == "psql ann shop");
  CHECK(expanded("%h %r") == "10.0.0.7 10.0.0.7(40000)");
  CHECK(expanded("%t") == "2026-11-20 13:05:09 UTC");
  CHECK(expanded("%m") == "2026-11-20 13:05:09.123 UTC");
  CHECK(expanded("%n") == "1795179909.123");
  CHECK(expanded("%s") == "2026-11-20 13:05:00 UTC");
  CHECK(expanded("%p %l %i %e") == "1001 3 SELECT 00000");
  CHECK(expanded("%c") == "6b00457c.3e9");
  CHECK(expanded("%b 100%%") == "client backend 100%");
  CHECK(expanded("[%v]%x%Q%P") == "[]00");
}

TEST_CASE("a width pads on the left, a negative one on the right", "[observability]") {
  CHECK(expanded("%6u|") == "   ann|");
  CHECK(expanded("%-6u|") == "ann   |");
}

TEST_CASE("a prefix that ends in the middle of an escape is cut there", "[observability]") {
  CHECK(expanded("a%") == "a");
  CHECK(expanded("a%-5") == "a");
}

TEST_CASE("without a session its escapes are empty, and %q ends the prefix", "[observability]") {
  CHECK(expand_prefix("%p %u%d%q never", kMoment, nullptr, {}) == "4711 ");
}

TEST_CASE("pgBadger's prefix gives the lines that it reads", "[observability]") {
  LogSubject about = subject();
  CHECK(plain_lines("%t [%p]: user=%u,db=%d,app=%a,client=%h ", kMoment, &about,
                    {.severity = "LOG", .message = "duration: 1.500 ms  statement: SELECT 1"}) ==
        "2026-11-20 13:05:09 UTC [1001]: user=ann,db=shop,app=psql,client=10.0.0.7 LOG:  duration: "
        "1.500 ms  statement: SELECT 1\n");
}

TEST_CASE("an error is followed by what belongs to it; further lines are indented",
          "[observability]") {
  CHECK(plain_lines("> ", kMoment, nullptr,
                    {.severity = "ERROR",
                     .message = "it failed",
                     .sqlstate = "42601",
                     .detail = "a\nb",
                     .context = "within",
                     .statement = "SELECT\n1"}) ==
        "> ERROR:  it failed\n> DETAIL:  a\n\tb\n> CONTEXT:  within\n> STATEMENT:  SELECT\n\t1\n");
}

TEST_CASE("a line of json is one object on one line", "[observability]") {
  LogSubject about = subject();
  about.application = "a \"b\" \\ c";
  const std::string line =
      json_line(kMoment, &about, {.severity = "ERROR", .message = "x\ny\x01", .sqlstate = "42601"});
  CHECK(
      line ==
      R"({"timestamp":"2026-11-20 13:05:09.123 UTC","user":"ann","dbname":"shop","pid":1001,)"
      R"("remote_host":"10.0.0.7","remote_port":40000,"session_id":"6b00457c.3e9","line_num":3,)"
      R"("session_start":"2026-11-20 13:05:00 UTC","error_severity":"ERROR","state_code":"42601",)"
      R"("message":"x\ny\u0001","application_name":"a \"b\" \\ c","backend_type":"client backend"})"
      "\n");
}
