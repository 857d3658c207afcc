#include "server/main/closed_door.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {
namespace {

constexpr std::string_view kWords = "the database system is starting up";

/// A closed door at a unix socket.
class StartingServer {
 public:
  StartingServer() {
    std::string name = (std::filesystem::temp_directory_path() / "closed-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    directory_ = name;
    ServerSettings settings;
    settings.listen_addresses = {};
    settings.unix_socket_directories = {directory_};
    port_ = settings.port;
    door = std::make_unique<ClosedDoor>(open_listening_sockets(settings).value(),
                                        std::make_shared<const DoorPolicy>(), ConnectionLimits{});
  }
  StartingServer(const StartingServer&) = delete;
  StartingServer& operator=(const StartingServer&) = delete;
  ~StartingServer() { std::filesystem::remove_all(directory_); }

  WireClient connect() {
    Descriptor socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = unix_socket_path(directory_, port_);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    return WireClient{std::move(socket)};
  }

  std::unique_ptr<ClosedDoor> door;

 private:
  std::string directory_;
  std::uint16_t port_ = 0;
};

void require_starting(WireClient& client) {
  const Received answer = client.receive();
  CHECK(answer.kind == 'E');
  CHECK(answer.field('S') == "FATAL");
  CHECK(answer.field('C') == "57P03");
  CHECK(answer.field('M') == kWords);
  CHECK(client.receive().kind == 0);
}

std::string startup() {
  return startup_packet(text("user") + text("ann") + text(""));
}

TEST_CASE("before the database is open each client is told at once that it is starting up") {
  StartingServer server;
  std::vector<WireClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(server.connect());
  for (WireClient& client : clients) client.send(startup());
  for (WireClient& client : clients) require_starting(client);

  WireClient encrypting = server.connect();
  encrypting.send(startup_packet("", 80'877'103));
  CHECK(encrypting.receive_byte() == 'N');
  encrypting.send(startup());
  require_starting(encrypting);

  // There is no session to cancel yet, and a cancel request is never answered.
  WireClient cancelling = server.connect();
  cancelling.send(startup_packet(int32(1) + int32(2), 80'877'102));
  CHECK(cancelling.receive().kind == 0);
}

TEST_CASE("a standby tells its clients that it accepts none") {
  StartingServer server;
  server.door->tell(ClosedDoor::Why::is_standby);
  WireClient client = server.connect();
  client.send(startup());
  const Received answer = client.receive();
  CHECK(answer.kind == 'E');
  CHECK(answer.field('C') == "57P03");
  CHECK(answer.field('M') == "the database system is not accepting connections");
  CHECK(answer.field('D') == "Hot standby mode is disabled.");
  server.door->tell(ClosedDoor::Why::starts);
  WireClient later = server.connect();
  later.send(startup());
  require_starting(later);
}

TEST_CASE("the door opens while clients are at it, and loses none") {
  StartingServer server;
  WireClient silent = server.connect();
  WireClient told = server.connect();
  told.send(startup());
  require_starting(told);  // so the one before has been accepted
  std::vector<ListeningSocket> sockets = server.door->open();
  require_starting(silent);
  server.door.reset();

  WireClient late = server.connect();
  late.send(startup());
  CHECK(late.is_quiet());
  REQUIRE(sockets.size() == 1);
  CHECK(Descriptor{::accept(sockets[0].descriptor.get(), nullptr, nullptr)}.is_open());
}

}  // namespace
}  // namespace swizzle::server::testing
