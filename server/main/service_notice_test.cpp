#include "server/main/service_notice.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "server/session/descriptor.h"

namespace swizzle::server {
namespace {

TEST_CASE("the service manager is told, if there is one", "[main]") {
  const std::string path = "/tmp/swizzle-notice-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ::unlink(path.c_str());
  const Descriptor manager{::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)};
  REQUIRE(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::array<char, 64> told{};

  ::unsetenv("NOTIFY_SOCKET");
  notify_service_manager("READY=1");
  CHECK(::recv(manager.get(), told.data(), told.size(), 0) == -1);

  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  notify_service_manager("READY=1");
  CHECK(::recv(manager.get(), told.data(), told.size(), 0) == 7);
  CHECK(std::string{told.data()} == "READY=1");

  ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
  notify_service_manager("STOPPING=1");
  ::unsetenv("NOTIFY_SOCKET");
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace swizzle::server
