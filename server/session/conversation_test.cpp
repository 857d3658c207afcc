#include "server/session/conversation.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <random>

#include "base/simulation/seeded_runs.h"
#include "server/auth/base64.h"
#include "server/auth/scram_exchange.h"
#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {
namespace {

using namespace std::string_literals;

std::string parse(std::string_view name, std::string_view sql) {
  return message('P', text(name) + text(sql) + int16(0));
}
std::string bind(std::string_view portal, std::string_view statement) {
  return message('B', text(portal) + text(statement) + int16(0) + int16(0) + int16(0));
}
std::string execute(std::string_view portal, std::uint32_t rows = 0) {
  return message('E', text(portal) + int32(rows));
}
std::string describe(char target, std::string_view name) {
  return message('D', target + text(name));
}
const std::string kSync = message('S');
const std::string kFlush = message('H');

TEST_CASE("log in, ask, leave") {
  TestServer server;
  WireClient client = server.connect();
  CHECK(client.log_in() == "RSSKZ");
  CHECK(client.cancel_key.size() == 4);
  CHECK(client.query("rows 2") == "TDDCZ");
  CHECK(client.query("") == "IZ");
  CHECK(client.query("notice") == "NCZ");
  CHECK(client.query("begin;rows 1;error;rows 1") == "CTDCEZ");
  CHECK(client.query("rows 1") == "TEZ");
  CHECK(client.query("rollback") == "CZ");
  client.send(message('X'));
  CHECK(client.receive().kind == 0);
  CHECK(server.becomes_empty());
}

TEST_CASE("notifications come before ReadyForQuery, and never inside a transaction") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  CHECK(client.query("notify hello") == "CAZ");
  CHECK(client.query("begin") == "CZ");
  CHECK(client.query("notify hello") == "CZ");
  CHECK(client.query("rows 1") == "TDCZ");
  CHECK(client.query("commit") == "CAZ");
  CHECK(client.query("rows 1") == "TDCZ");
}

TEST_CASE("ReadyForQuery tells the state of the transaction") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  const auto status_after = [&](std::string_view sql) {
    client.send(message('Q', text(sql)));
    return client.receive_until('Z').back().body;
  };
  CHECK(status_after("rows 1") == "I");
  CHECK(status_after("begin") == "T");
  CHECK(status_after("error") == "E");
  CHECK(status_after("commit") == "I");
}

TEST_CASE("the extended protocol answers in order, at Sync or Flush") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.send(parse("s", "rows 3") + describe('S', "s"));
  CHECK(client.is_quiet());
  client.send(kFlush);
  CHECK(client.kinds_until('T') == "1tT");
  client.send(bind("", "s") + describe('P', "") + execute("") + kSync);
  CHECK(client.kinds_until('Z') == "2TDDDCZ");
  client.send(message('C', "Ss\0"s) + message('C', "Pnone\0"s) + kSync);
  CHECK(client.kinds_until('Z') == "33Z");
  client.send(bind("", "s") + kSync);
  CHECK(client.kinds_until('Z') == "EZ");
}

TEST_CASE("a portal with a row limit is suspended and goes on") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.query("begin");
  client.send(parse("", "rows 5") + bind("p", "") + execute("p", 2) + kSync);
  CHECK(client.kinds_until('Z') == "12DDsZ");
  client.send(execute("p", 2) + execute("p", 2) + kSync);
  CHECK(client.kinds_until('Z') == "DDsDCZ");
}

TEST_CASE("after an error everything is skipped until Sync, in one segment or in many") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  const std::string pipeline = parse("", "error") + bind("", "") + execute("") +
                               parse("", "rows 1") + bind("", "") + execute("") +
                               message('Q', text("rows 1")) + kFlush + kSync + parse("", "rows 1") +
                               bind("", "") + execute("") + kSync;
  SECTION("in one segment") {
    client.send(pipeline);
  }
  SECTION("byte by byte") {
    for (const char byte : pipeline) client.send({&byte, 1});
  }
  CHECK(client.kinds_until('Z') == "12EZ");
  CHECK(client.kinds_until('Z') == "12DCZ");
}

TEST_CASE("an error is sent at once, though the Flush behind it is skipped") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.send(parse("", "error") + bind("", "") + execute("") + kFlush);
  CHECK(client.kinds_until('E') == "12E");
  client.send(kSync);
  CHECK(client.kinds_until('Z') == "Z");
}

TEST_CASE("a malformed message is an error of its own and fails the transaction") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.query("begin");
  SECTION("Bind") {
    client.send(message('B', "cut") + execute("") + kSync);
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].field('C') == "08P01");
    CHECK(answer[1].body == "E");
  }
  SECTION("Query") {
    client.send(message('Q', "\xFF\0"s));
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].field('C') == "22021");
    CHECK(answer[1].body == "E");
  }
  SECTION("FunctionCall") {
    client.send(message('F', "anything"));
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].field('C') == "08P01");
    CHECK(answer[1].body == "E");
  }
  CHECK(client.query("rollback") == "CZ");
  CHECK(client.query("rows 1") == "TDCZ");
}

TEST_CASE("what is no message ends the connection with a reason") {
  TestServer server;
  for (const std::string& garbage :
       {"GET / HTTP/1.1\r\n\r\n"s, "\0\0\0\0\0"s, "Q\0\0\0\3"s, "Q\x7F\xFF\xFF\xFF"s, "S\0\1\0\0"s,
        message('p', "late password")}) {
    WireClient client = server.connect();
    client.log_in();
    client.send(garbage);
    const Received last = client.receive();
    CHECK(last.kind == 'E');
    CHECK(last.field('S') == "FATAL");
    CHECK(last.field('C') == "08P01");
    CHECK(client.receive().kind == 0);
  }
  CHECK(server.becomes_empty());
}

TEST_CASE("a payload that looks like messages is not executed") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  const std::string fake = message('Q', text("begin"));
  client.send(message('B', fake) + kSync);
  CHECK(client.kinds_until('Z') == "EZ");
  client.send(message('d', fake) + message('c') + message('f', text("x")));  // stray COPY messages
  CHECK(client.query("rows 1") == "TDCZ");
}

TEST_CASE("COPY into the server: data, failure of either side, a fake end") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  const auto start = [&] {
    client.send(message('Q', text("copy in")));
    CHECK(client.receive().kind == 'G');
  };
  SECTION("data") {
    start();
    client.send(message('d', "12345") + message('H') + message('d', "678") + message('c'));
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].body == "COPY 8\0"s);
  }
  SECTION("the client gives up") {
    start();
    client.send(message('d', "1") + message('f', text("disk on fire")));
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].field('C') == "57014");
    CHECK(answer[0].field('M') == "COPY from stdin failed: disk on fire");
  }
  SECTION("the server gives up, and the client goes on sending for a while") {
    start();
    client.send(message('d', "bad") + message('d', message('Q', text("begin"))) + message('c'));
    const auto answer = client.receive_until('Z');
    REQUIRE(answer.size() == 2);
    CHECK(answer[0].field('C') == "22012");
    CHECK(answer[1].body == "I");
  }
  SECTION("in the extended protocol, with the Sync behind CopyDone") {
    client.send(parse("", "copy in") + bind("", "") + execute("") + kSync);
    CHECK(client.kinds_until('G') == "12G");
    client.send(message('d', "1") + message('c') + kSync);
    CHECK(client.kinds_until('Z') == "CZ");
    CHECK(client.is_quiet());  // the first Sync belonged to the COPY
  }
  SECTION("something else in the middle ends the connection") {
    start();
    client.send(message('Q', text("begin")));
    CHECK(client.kinds_until('Z').ends_with("E\0"s));
    return;
  }
  CHECK(client.query("rows 1") == "TDCZ");
}

TEST_CASE("a client that vanishes in the middle of anything leaves nothing behind") {
  TestServer server;
  const std::string all = startup_packet(text("user") + text("ann") + '\0') +
                          message('Q', text("begin")) + parse("", "copy in") + bind("", "") +
                          execute("") + message('d', "1");
  for (std::size_t sent = 0; sent <= all.size(); sent += 3) {
    WireClient client = server.connect();
    client.send(std::string_view{all}.substr(0, sent));
    client.close();
  }
  CHECK(server.becomes_empty());
}

TEST_CASE("a statement whose client has gone is ended, one whose client waits is not") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.send(message('Q', text("sleep")));
  CHECK(client.is_quiet());
  server.context().registry().cancel_abandoned(Duration::zero());
  CHECK(client.is_quiet());
  client.close();
  for (int i = 0; i < 100 && server.context().registry().size() > 0; ++i) {
    server.context().registry().cancel_abandoned(Duration::zero());
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  CHECK(server.becomes_empty());
}

TEST_CASE("COPY out of the server") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  CHECK(client.query("copy out 3") == "HdddcCZ");
}

TEST_CASE("a changed setting is reported") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  CHECK(client.query("set application_name=x") == "SCZ");
}

TEST_CASE("cancel requests reach the statement whose key they carry, and nobody else") {
  TestServer server;
  WireClient client = server.connect();
  const std::uint32_t version = GENERATE(0x0003'0000U, 0x0003'0002U);
  client.log_in("ann", version);
  CHECK(client.cancel_key.size() == (version == 0x0003'0002U ? 32U : 4U));
  const auto send_cancel = [&](std::uint32_t id, const std::string& key) {
    WireClient other = server.connect();
    other.send(startup_packet(int32(id) + key, 80877102));
    CHECK(other.receive().kind == 0);
  };
  client.send(message('Q', text("sleep")));
  std::string wrong = client.cancel_key;
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  send_cancel(client.backend_id, wrong);
  send_cancel(client.backend_id, wrong.substr(0, 4) + "more");
  send_cancel(client.backend_id + 1, client.cancel_key);
  CHECK(client.is_quiet());
  send_cancel(client.backend_id, client.cancel_key);
  const auto answer = client.receive_until('Z');
  REQUIRE(answer.size() == 2);
  CHECK(answer[0].field('C') == "57014");

  client.send(message('Q', text("copy in")));
  CHECK(client.receive().kind == 'G');
  send_cancel(client.backend_id, client.cancel_key);
  CHECK(client.receive().field('C') == "57014");
  CHECK(client.receive().kind == 'Z');
}

TEST_CASE("a cancel request that came when nothing ran ends nothing") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  {
    WireClient other = server.connect();
    other.send(startup_packet(int32(client.backend_id) + client.cancel_key, 80877102));
    // The connection is closed once the message has been processed.
    CHECK(other.receive().kind == 0);
  }
  client.send(message('Q', text("copy in")));
  CHECK(client.receive().kind == 'G');
  CHECK(client.is_quiet());
  client.send(message('d', "row") + message('c'));
  CHECK(client.kinds_until('Z') == "CZ");
}

TEST_CASE("time limits end statements and idle sessions") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  SECTION("statement_timeout, simple and extended") {
    client.query("set statement_timeout=30ms");
    client.send(message('Q', text("sleep")));
    CHECK(client.receive().field('M') == "canceling statement due to statement timeout");
    CHECK(client.receive().kind == 'Z');
    client.send(parse("", "sleep") + bind("", "") + execute("") + kSync);
    CHECK(client.kinds_until('Z') == "12EZ");
    // The error that ended the statement is sent only once, and the session goes on.
    CHECK(client.is_quiet());
    CHECK(client.query("rows 1") == "TDCZ");
  }
  SECTION("idle_session_timeout") {
    client.query("set idle_session_timeout=30ms");
    const Received last = client.receive();
    CHECK(last.field('C') == "57P05");
    CHECK(client.receive().kind == 0);
  }
  SECTION("idle_in_transaction_session_timeout") {
    client.query("set idle_in_transaction_session_timeout=30ms");
    CHECK(client.is_quiet());
    client.query("begin");
    const Received last = client.receive();
    CHECK(last.field('C') == "25P03");
    CHECK(last.field('S') == "FATAL");
    CHECK(client.receive().kind == 0);
  }
}

TEST_CASE("transaction_timeout ends the session, in a statement or between two") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.query("set transaction_timeout=30ms");
  CHECK(client.is_quiet());
  // A statement by itself is a transaction.
  CHECK(client.query("rows 1") == "TDCZ");
  SECTION("idle in the transaction") {
    client.query("begin");
    const Received last = client.receive();
    CHECK(last.field('C') == "25P04");
    CHECK(last.field('S') == "FATAL");
    CHECK(last.field('M') == "terminating connection due to transaction timeout");
    CHECK(client.receive().kind == 0);
  }
  SECTION("while a statement runs, and before a longer statement_timeout") {
    client.query("set statement_timeout=10s");
    client.send(message('Q', text("sleep")));
    CHECK(client.receive().field('C') == "25P04");
    CHECK(client.receive().kind == 0);
  }
  SECTION("a shorter statement_timeout comes first") {
    client.query("set statement_timeout=5ms");
    client.send(message('Q', text("sleep")));
    CHECK(client.receive().field('C') == "57014");
    CHECK(client.receive().kind == 'Z');
    CHECK(client.query("rows 1") == "TDCZ");
  }
}

TEST_CASE("a session whose transaction keeps too much of the log is told why it ends") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  server.context().registry().end_transaction(client.backend_id, TxnId{7});
  server.context().registry().end_transaction(client.backend_id + 1, TxnId{7});
  CHECK(client.is_quiet());
  client.query("begin");
  server.context().registry().end_transaction(client.backend_id, TxnId{7});
  const Received last = client.receive();
  CHECK(last.field('C') == "53400");
  CHECK(last.field('S') == "FATAL");
  CHECK(client.receive().kind == 0);
}

TEST_CASE("a client that does not read holds little memory and is ended") {
  DoorPolicy policy = TestServer::open_door();
  policy.send_timeout = std::chrono::milliseconds{50};
  TestServer server{std::move(policy)};
  WireClient client = server.connect();
  client.log_in();
  client.send(message('Q', text("wide 1000000")));
  CHECK(server.becomes_empty());
}

TEST_CASE("a large result arrives whole at a slow reader") {
  TestServer server;
  WireClient client = server.connect();
  client.log_in();
  client.send(message('Q', text("wide 3000")));
  std::size_t rows = 0;
  for (const Received& received : client.receive_until('Z')) rows += received.kind == 'D' ? 1 : 0;
  CHECK(rows == 3000);
}

TEST_CASE("a fast stop tells everybody") {
  TestServer server;
  WireClient idle = server.connect();
  WireClient busy = server.connect();
  WireClient copying = server.connect();
  idle.log_in();
  busy.log_in();
  copying.log_in();
  busy.send(message('Q', text("sleep")));
  copying.send(message('Q', text("copy in")));
  CHECK(copying.receive().kind == 'G');
  server.context().registry().end_all(EndReason::administrator);
  CHECK(idle.receive().field('C') == "57P01");
  CHECK(busy.receive().field('C') == "57P01");
  CHECK(copying.kinds_until('Z').ends_with("E\0"s));
  CHECK(server.becomes_empty());
  WireClient late = server.connect();
  CHECK(late.receive().field('C') == "57P03");
}

TEST_CASE("random bytes after login never do harm") {
  const auto seed = static_cast<std::uint32_t>(test_seed());
  CAPTURE(seed);
  std::mt19937 random{seed};
  const std::string good = parse("s", "rows 3") + bind("", "s") + execute("", 1) + kSync +
                           message('Q', text("copy in")) + message('d', "x") + message('c') +
                           describe('S', "s") + kFlush + kSync;
  TestServer server;
  for (int round = 0; round < 150; ++round) {
    WireClient client = server.connect();
    client.log_in();
    std::string damaged = good;
    for (auto hits = 1 + random() % 6; hits > 0; --hits) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    client.send(damaged);
    client.close();
  }
  CHECK(server.becomes_empty());
}

}  // namespace
}  // namespace swizzle::server::testing
