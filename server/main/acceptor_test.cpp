#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "server/main/listener.h"
#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {
namespace {

/// The real front: sockets, reactors and fibers; behind it the sessions of the tests.
class FiberServer {
 public:
  FiberServer() : runtime_({.reactors = 2}) {
    std::string name = (std::filesystem::temp_directory_path() / "swizzled-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    directory_ = name;
    alignas(8) static std::byte no_engine[8];
    database_ = sql::Database::open(reinterpret_cast<Engine&>(no_engine)).value();
    context_ = std::make_unique<ServerContext>(*database_, ConnectionLimits{}, "secret");
    context_->set_policy(TestServer::open_door());
    ServerSettings settings;
    settings.listen_addresses = {};
    settings.unix_socket_directories = {directory_};
    acceptor_ =
        std::make_unique<Acceptor>(runtime_, *context_, open_listening_sockets(settings).value());
  }
  ~FiberServer() {
    context_->registry().end_all(EndReason::administrator);
    acceptor_->stop();
    while (context_->registry().size() != 0) std::this_thread::yield();
    std::filesystem::remove_all(directory_);
  }

  WireClient connect() {
    Descriptor socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = unix_socket_path(directory_, 5432);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    return WireClient{std::move(socket)};
  }
  ServerContext& context() { return *context_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<ServerContext> context_;
  std::unique_ptr<Acceptor> acceptor_;
  FiberRuntime runtime_;
};

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
