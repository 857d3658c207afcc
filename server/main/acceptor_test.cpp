#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "server/session/testing/fiber_server.h"

namespace swizzle::server::testing {
namespace {

TEST_CASE("clients are served by fibers over a real socket") {
  FiberServer server;
  std::vector<WireClient> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(server.connect());
  for (WireClient& client : clients) CHECK(client.log_in() == "RSSKZ");
  for (int round = 0; round < 5; ++round) {
    for (WireClient& client : clients) client.send(message('Q', text("rows 2")));
    for (WireClient& client : clients) CHECK(client.kinds_until('Z') == "TDDCZ");
  }
  clients[0].send(message('Q', text("wide 2000")));
  CHECK(clients[0].kinds_until('Z').size() == 2003);
}

TEST_CASE("an idle time limit and a stop reach a fiber that waits for its client") {
  FiberServer server;
  WireClient limited = server.connect();
  limited.log_in();
  limited.query("set idle_session_timeout=30ms");
  CHECK(limited.receive().field('C') == "57P05");
  WireClient idle = server.connect();
  idle.log_in();
  server.context().registry().end_all(EndReason::administrator);
  CHECK(idle.receive().field('C') == "57P01");
}

TEST_CASE("a socket that answers is not taken over, and a bad address is named") {
  FiberServer server;
  ServerSettings settings;
  settings.listen_addresses = {};
  settings.unix_socket_directories = {server.directory()};
  const auto taken = open_listening_sockets(settings);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().message().find(server.directory()) != std::string::npos);
  settings.unix_socket_directories = {};
  settings.listen_addresses = {"not an address"};
  CHECK_FALSE(open_listening_sockets(settings));
}

}  // namespace
}  // namespace swizzle::server::testing
