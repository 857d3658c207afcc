#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace swizzle::testing {

/// Returns a TCP port of loopback on which no process listens. It lies below the range from which
/// the kernel takes the local ports of connections: a port of that range can go to a client of a
/// test beside this one, even between this call and the server's bind. Each process begins
/// elsewhere, and no call returns the port of the call before.
inline std::uint16_t free_port() {
  constexpr unsigned kFirst = 20'000;
  constexpr unsigned kCount = 12'000;
  static unsigned next = static_cast<unsigned>(::getpid()) * 37;
  for (unsigned tries = 0; tries < kCount; ++tries) {
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free =
        ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (is_free) return port;
  }
  throw std::runtime_error{"no free port"};
}

}  // namespace swizzle::testing
