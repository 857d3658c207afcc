#include "server/session/testing/fiber_server.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <stdexcept>

namespace swizzle::server::testing {

FiberServer::FiberServer(DoorPolicy policy, std::uint16_t tcp_port)
    : port_(tcp_port == 0 ? 5432 : tcp_port), runtime_({.reactors = 2}) {
  std::string name = (std::filesystem::temp_directory_path() / "swizzled-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
  directory_ = name;
  // The fake database never uses its engine.
  alignas(8) static std::byte no_engine[8];
  database_ = sql::Database::open(reinterpret_cast<Engine&>(no_engine)).value();
  context_ = std::make_unique<ServerContext>(*database_, ConnectionLimits{}, "secret",
                                             std::make_shared<ServerLog>(-1));
  context_->set_policy(std::move(policy));
  ServerSettings settings;
  settings.port = port_;
  if (tcp_port != 0) settings.listen_addresses = {"127.0.0.1"};
  settings.unix_socket_directories = {directory_};
  acceptor_ = std::make_unique<Acceptor>(events_, runtime_, *context_,
                                         open_listening_sockets(settings).value());
  letting_in_ = std::thread{[this] { events_.run(); }};
}

FiberServer::~FiberServer() {
  context_->registry().end_all(EndReason::administrator);
  events_.stop();
  letting_in_.join();
  acceptor_->stop();
  while (context_->registry().size() != 0) std::this_thread::yield();
  std::filesystem::remove_all(directory_);
}

WireClient FiberServer::connect() {
  Descriptor socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = unix_socket_path(directory_, port_);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error{"cannot connect to " + path};
  }
  return WireClient{std::move(socket)};
}

}  // namespace swizzle::server::testing
