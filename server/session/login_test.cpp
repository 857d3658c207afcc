#include "server/session/login.h"

#include <pwd.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "server/auth/base64.h"
#include "server/auth/scram_exchange.h"
#include "server/session/startup_options.h"
#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {
namespace {

using namespace std::string_literals;

constexpr std::uint32_t kSslRequest = 80877103;
constexpr std::uint32_t kGssRequest = 80877104;

std::string startup_for(std::string_view user) {
  return startup_packet(text("user") + text(user) + '\0');
}

/// Performs the whole SCRAM exchange. Returns the last message: 'R' with 0 is success.
Received scram_login(WireClient& client, std::string_view user, std::string_view password) {
  client.send(startup_for(user));
  if (client.receive().kind != 'R') return {};
  const std::string bare = "n=,r=clientnonce";
  const std::string first = "n,," + bare;
  client.send(
      message('p', text(kScramSha256) + int32(static_cast<std::uint32_t>(first.size())) + first));
  const Received challenge = client.receive();
  if (challenge.kind != 'R') return challenge;
  const std::string server_first = challenge.body.substr(4);
  const std::size_t salt_at = server_first.find(",s=") + 3;
  const std::size_t salt_end = server_first.find(",i=");
  const std::string salt = *decode_base64(server_first.substr(salt_at, salt_end - salt_at));
  const auto iterations = static_cast<std::uint32_t>(std::stoul(server_first.substr(salt_end + 3)));
  const Digest salted = pbkdf2_sha256(password, as_bytes(salt), iterations);
  const Digest client_key = hmac_sha256(salted, as_bytes("Client Key"));
  const std::string without_proof = "c=biws," + server_first.substr(0, server_first.find(",s="));
  const std::string signed_text = bare + "," + server_first + "," + without_proof;
  Digest proof = hmac_sha256(sha256(client_key), as_bytes(signed_text));
  for (std::size_t i = 0; i < proof.size(); ++i) proof[i] ^= client_key[i];
  client.send(message('p', without_proof + ",p=" + encode_base64(proof)));
  const Received final_message = client.receive();
  if (final_message.kind != 'R') return final_message;
  return client.receive();
}

DoorPolicy scram_door() {
  return TestServer::door("local all all scram-sha-256");
}

TEST_CASE("SCRAM lets in who knows the password") {
  TestServer server{scram_door()};
  WireClient client = server.connect();
  const Received last = scram_login(client, "ann", "secret");
  CHECK(last.kind == 'R');
  CHECK(last.body == "\0\0\0\0"s);
  CHECK(client.kinds_until('Z') == "SSKZ");
}

TEST_CASE("a wrong password and an unknown role look alike") {
  TestServer server{scram_door()};
  const auto refuse = [&](std::string_view user) {
    WireClient client = server.connect();
    const Received last = scram_login(client, user, "guess");
    CHECK(client.receive().kind == 0);
    return last;
  };
  const Received wrong = refuse("ann");
  const Received unknown = refuse("nobody");
  CHECK(wrong.field('C') == "28P01");
  CHECK(unknown.field('C') == "28P01");
  CHECK(wrong.field('M') == "password authentication failed for user \"ann\"");
  CHECK(unknown.field('M') == "password authentication failed for user \"nobody\"");
}

TEST_CASE("a login that is cut short, or is something else, fails cleanly") {
  TestServer server{scram_door()};
  SECTION("a Query in place of the password") {
    WireClient client = server.connect();
    client.send(startup_for("ann"));
    CHECK(client.receive().kind == 'R');
    client.send(message('Q', text("rows 1")));
    CHECK(client.receive().field('C') == "08P01");
    CHECK(client.receive().kind == 0);
  }
  SECTION("a password message of 100 MB is refused at its header") {
    WireClient client = server.connect();
    client.send(startup_for("ann"));
    CHECK(client.receive().kind == 'R');
    client.send("p\x06\0\0\0"s);
    CHECK(client.receive().field('C') == "08P01");
  }
  SECTION("a SASL message cut at every byte") {
    const std::string body = text(kScramSha256) + int32(11) + "n,,n=,r=abc";
    for (std::size_t size = 0; size < body.size(); ++size) {
      WireClient client = server.connect();
      client.send(startup_for("ann"));
      CHECK(client.receive().kind == 'R');
      client.send(message('p', body.substr(0, size)));
      CHECK(client.receive().kind == 'E');
    }
  }
  CHECK(server.becomes_empty());
}

TEST_CASE("the first matching rule decides") {
  TestServer server{
      TestServer::door("local all bob reject\nlocal all all peer\nhost all all 10.0.0.0/8 "
                       "scram-sha-256\n")};
  const auto first_answer = [&](Peer peer, std::string_view user) {
    WireClient client = server.connect(std::move(peer));
    client.send(startup_for(user));
    return client.receive();
  };
  const passwd* me = getpwuid(getuid());
  REQUIRE(me != nullptr);
  CHECK(first_answer({std::nullopt, getuid()}, "bob").field('C') == "28000");
  CHECK(first_answer({std::nullopt, getuid()}, me->pw_name).body == "\0\0\0\0"s);
  CHECK(first_answer({std::nullopt, getuid()}, "someone").field('M') ==
        "Peer authentication failed for user \"someone\"");
  CHECK(first_answer({std::nullopt, std::nullopt}, me->pw_name).field('C') == "28000");
  CHECK(first_answer({IpAddress::parse("10.1.1.1"), {}}, "ann").body.starts_with("\0\0\0\x0A"s));
  CHECK(
      first_answer({IpAddress::parse("11.1.1.1"), {}}, "ann").field('M') ==
      "no pg_hba.conf entry for host \"11.1.1.1\", user \"ann\", database \"ann\", no encryption");
}

TEST_CASE("SYSTEM_USER is the method that proved the name, and the name") {
  TestServer server{TestServer::door("local all ann scram-sha-256\nlocal all all trust")};
  const auto answer = [](WireClient& client) {
    client.send(message('Q', text("system user")));
    std::string row;
    for (const Received& received : client.receive_until('Z')) {
      if (received.kind == 'D') row = received.body;
    }
    return row;
  };
  WireClient proved = server.connect();
  REQUIRE(scram_login(proved, "ann", "secret").kind == 'R');
  proved.receive_until('Z');
  CHECK(answer(proved).ends_with("scram-sha-256:ann"));
  WireClient trusted = server.connect();
  trusted.log_in("bob");
  CHECK(answer(trusted).ends_with("nobody"));
}

TEST_CASE("encryption requests: one of each, and nothing behind them") {
  TestServer server;
  SECTION("both are declined, then start-up goes on") {
    WireClient client = server.connect();
    client.send(startup_packet("", kGssRequest));
    CHECK(client.receive_byte() == 'N');
    client.send(startup_packet("", kSslRequest));
    CHECK(client.receive_byte() == 'N');
    CHECK(client.log_in() == "RSSKZ");
  }
  SECTION("asking again closes") {
    for (const std::uint32_t code : {kSslRequest, kGssRequest}) {
      WireClient client = server.connect();
      client.send(startup_packet("", code));
      CHECK(client.receive_byte() == 'N');
      client.send(startup_packet("", code));
      CHECK_FALSE(client.receive_byte());
    }
  }
  SECTION("a start-up packet in the same segment is not executed") {
    WireClient client = server.connect();
    client.send(startup_packet("", kSslRequest) + startup_for("ann"));
    const Received answer = client.receive();
    CHECK(answer.kind == 'E');
    CHECK(answer.field('C') == "08P01");
    CHECK(client.receive().kind == 0);
  }
}

TEST_CASE("start-up packets that we refuse") {
  TestServer server;
  const auto refused = [&](const std::string& packet) {
    WireClient client = server.connect();
    client.send(packet);
    return client.receive_until('E').back().field('C');
  };
  CHECK(refused(startup_packet("\0"s)) == "28000");
  CHECK(refused(startup_packet(text("user") + text("a") + text("replication") + text("maybe") +
                               '\0')) == "22023");
  CHECK(refused(startup_packet(text("user") + text("a") + text("database") + text("absent") +
                               '\0')) == "3D000");
  CHECK(refused(startup_packet(text("user") + text("a") + text("options") + text("-x") + '\0')) ==
        "42601");
  CHECK(refused(startup_packet(text("user"), 0x0002'0000)) == "0A000");
  for (const std::string& garbage : {"\0\0\0\0\0\0\0\0"s, "\x7F\xFF\xFF\xFFxxxx"s,
                                     "GET / HTTP/1.1\r\n\r\n"s, "\x16\x03\x01\x02\x00\x01"s}) {
    WireClient client = server.connect();
    client.send(garbage);
    CHECK(client.receive().kind == 0);  // closed without a word
  }
  CHECK(server.becomes_empty());
}

TEST_CASE("versions and extensions are negotiated") {
  TestServer server;
  SECTION("3.2 is spoken as asked") {
    WireClient client = server.connect();
    CHECK(client.log_in("ann", 0x0003'0002) == "RSSKZ");
  }
  SECTION("a later minor version is told what we speak") {
    WireClient client = server.connect();
    CHECK(client.log_in("ann", 0x0003'0063) == "vRSSKZ");
    CHECK(client.cancel_key.size() == 32);
  }
  SECTION("a version that no server speaks yet, with a parameter for such tests") {
    WireClient client = server.connect();
    client.send(startup_packet(
        text("user") + text("a") + text("_pq_.test_protocol_negotiation") + text("") + '\0',
        0x0003'270F));
    const Received answer = client.receive();
    CHECK(answer.kind == 'v');
    CHECK(answer.body == int32(0x0003'0002) + int32(1) + text("_pq_.test_protocol_negotiation"));
    CHECK(client.kinds_until('Z') == "RSSKZ");
    CHECK(client.cancel_key.size() == 32);
  }
  SECTION("an unknown extension is named") {
    WireClient client = server.connect();
    client.send(startup_packet(text("user") + text("a") + text("_pq_.x") + text("1") + '\0'));
    const Received answer = client.receive();
    CHECK(answer.kind == 'v');
    CHECK(answer.body == int32(0x0003'0000) + int32(1) + text("_pq_.x"));
  }
}

TEST_CASE("slow clients at the door are closed in time") {
  DoorPolicy policy = scram_door();
  policy.authentication_timeout = std::chrono::milliseconds{100};
  TestServer server{std::move(policy)};
  WireClient silent = server.connect();
  WireClient half = server.connect();
  half.send("\0\0\0"s);
  WireClient no_password = server.connect();
  no_password.send(startup_for("ann"));
  CHECK(no_password.receive().kind == 'R');
  CHECK(server.becomes_empty());
}

TEST_CASE("connection limits keep places for superusers and for the door") {
  TestServer server{TestServer::open_door(),
                    {.max_connections = 3, .reserved = 1, .max_authenticating = 2}};
  WireClient one = server.connect();
  CHECK(one.log_in("plain") == "RSSKZ");
  WireClient two = server.connect();
  CHECK(two.log_in("plain") == "RSSKZ");
  WireClient three = server.connect();
  three.send(startup_for("plain"));
  CHECK(three.receive().kind == 'R');
  CHECK(three.receive().field('C') == "53300");
  WireClient super = server.connect();
  CHECK(super.log_in("super") == "RSSKZ");
  WireClient late = server.connect();
  late.send(startup_for("super"));
  CHECK(late.receive_until('E').back().field('C') == "53300");

  // A refused client counts as logging in until the server has seen it disconnect.
  while (server.context().registry().size() > 3) std::this_thread::yield();
  WireClient door_one = server.connect();
  door_one.send("\0\0\0"s);
  while (server.context().registry().size() < 4) std::this_thread::yield();
  WireClient door_two = server.connect();
  door_two.send("\0\0\0"s);
  while (server.context().registry().size() < 5) std::this_thread::yield();
  WireClient door_three = server.connect();
  door_three.send("\0\0\0"s);
  // No client is kept out: the one that has been logging in for longest is disconnected.
  CHECK(door_one.receive().kind == 0);
  CHECK(door_two.is_quiet());
  CHECK(door_three.is_quiet());
  // Nor is the next client.
  two.close();
  while (server.context().registry().size() > 4) std::this_thread::yield();
  WireClient in = server.connect();
  CHECK(in.log_in("super") == "RSSKZ");
  CHECK(door_two.receive().kind == 0);
}

TEST_CASE("options in the start-up packet are split as PostgreSQL splits them") {
  const auto parsed = parse_command_line_options(
      R"(-c geqo=off  --statement-timeout=5min -cwork_mem=4MB -c search_path=a\ b)");
  REQUIRE(parsed);
  CHECK(*parsed == NamedValues{{"geqo", "off"},
                               {"statement_timeout", "5min"},
                               {"work_mem", "4MB"},
                               {"search_path", "a b"}});
  CHECK(parse_command_line_options("")->empty());
  CHECK_FALSE(parse_command_line_options("-c"));
  CHECK_FALSE(parse_command_line_options("-c x"));
  CHECK_FALSE(parse_command_line_options("--=x"));
  CHECK_FALSE(parse_command_line_options("-d 5"));
}

}  // namespace
}  // namespace swizzle::server::testing
