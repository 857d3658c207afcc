#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/main/listener.h"

namespace swizzle::server {
namespace {

constexpr int kBacklog = 4096;

std::unexpected<Error> socket_failure(const std::string& name) {
  return fail(sqlstate::io_error,
              fmt::format("could not listen on \"{}\": {}", name, std::strerror(errno)));
}

Result<ListeningSocket> listen_on_tcp(const addrinfo& where, const std::string& name) {
  ListeningSocket listening{
      Descriptor{::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}, name,
      false};
  const int fd = listening.descriptor.get();
  const int on = 1;
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) {
    return socket_failure(name);
  }
  // One socket per family: "::" must not take the IPv4 port as well.
  if (where.ai_family == AF_INET6 &&
      ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) {
    return socket_failure(name);
  }
  if (::bind(fd, where.ai_addr, where.ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
    return socket_failure(name);
  }
  return listening;
}

Result<> add_tcp(const std::string& address, std::uint16_t port,
                 std::vector<ListeningSocket>& sockets) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const char* host = address == "*" ? nullptr : address.c_str();
  const int failed = ::getaddrinfo(host, service.c_str(), &hints, &found);
  if (failed != 0) {
    return fail(sqlstate::config_file_error,
                fmt::format("could not translate listen address \"{}\": {}", address,
                            ::gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard{found, &::freeaddrinfo};
  const std::size_t before = sockets.size();
  std::optional<Error> first_failure;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    auto listening = listen_on_tcp(*each, fmt::format("{}:{}", address, port));
    if (listening) {
      sockets.push_back(std::move(*listening));
    } else if (!first_failure) {
      first_failure = std::move(listening).error();
    }
  }
  // "localhost" may name an IPv6 address on a host without IPv6: one that works is enough.
  if (sockets.size() == before && first_failure) return fail(std::move(*first_failure));
  return {};
}

Result<> add_unix(const std::string& directory, std::uint16_t port,
                  std::vector<ListeningSocket>& sockets) {
  const std::string path = unix_socket_path(directory, port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(sqlstate::config_file_error,
                fmt::format("unix socket path \"{}\" is too long (at most {} bytes)", path,
                            sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  ListeningSocket listening{
      Descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}, path, true};
  const int fd = listening.descriptor.get();
  if (fd < 0) return socket_failure(path);
  // A socket that a crash left behind refuses connections; one that accepts belongs to a running
  // server.
  const Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (::connect(probe.get(), generic, sizeof address) == 0) {
    errno = EADDRINUSE;
    return socket_failure(path);
  }
  ::unlink(path.c_str());
  if (::bind(fd, generic, sizeof address) != 0 || ::listen(fd, kBacklog) != 0) {
    return socket_failure(path);
  }
  // Every user may connect to the socket; the rules decide.
  ::chmod(path.c_str(), S_IRWXU | S_IRWXG | S_IRWXO);
  sockets.push_back(std::move(listening));
  return {};
}

}  // namespace

std::string unix_socket_path(const std::string& directory, std::uint16_t port) {
  return fmt::format("{}/.s.PGSQL.{}", directory, port);
}

Result<std::vector<ListeningSocket>> open_tcp_sockets(const std::string& address,
                                                      std::uint16_t port) {
  std::vector<ListeningSocket> sockets;
  RETURN_IF_ERROR(add_tcp(address, port, sockets));
  return sockets;
}

Result<std::vector<ListeningSocket>> open_listening_sockets(const ServerSettings& settings) {
  std::vector<ListeningSocket> sockets;
  for (const std::string& directory : settings.unix_socket_directories) {
    RETURN_IF_ERROR(add_unix(directory, settings.port, sockets));
  }
  for (const std::string& address : settings.listen_addresses) {
    RETURN_IF_ERROR(add_tcp(address, settings.port, sockets));
  }
  return sockets;
}

}  // namespace swizzle::server
