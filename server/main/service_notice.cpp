#include "server/main/service_notice.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "server/session/descriptor.h"

namespace swizzle::server {

void notify_service_manager(std::string_view state) noexcept {
  // Read by the main thread alone, and never set by the process.
  const char* name = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe)
  if (name == nullptr) return;
  const std::string_view path{name};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  // A leading @ means the NUL of an abstract socket name.
  if (path.front() == '@') address.sun_path[0] = '\0';

  const Descriptor socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket.is_open()) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace swizzle::server
