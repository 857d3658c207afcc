#include "server/session/testing/tls_door.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace swizzle::server::testing {

DoorPolicy tls_door() {
  std::string directory = (std::filesystem::temp_directory_path() / "swizzled-XXXXXX").string();
  REQUIRE(mkdtemp(directory.data()) != nullptr);
  const std::string command = "cd " + directory +
                              " && openssl req -new -x509 -days 2 -nodes -subj /CN=127.0.0.1 "
                              "-newkey rsa:2048 -keyout key -out crt 2>/dev/null && chmod 600 key";
  REQUIRE(std::system(command.c_str()) == 0);
  DoorPolicy policy = TestServer::door("local all all trust\nhost all all all scram-sha-256");
  policy.tls = TlsContext::load({directory + "/crt", directory + "/key"}).value();
  std::filesystem::permissions(directory + "/key", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  CHECK_FALSE(TlsContext::load({directory + "/crt", directory + "/key"}));
  std::filesystem::remove_all(directory);
  return policy;
}

}  // namespace swizzle::server::testing
