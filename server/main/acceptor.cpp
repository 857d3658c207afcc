#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "server/main/listener.h"
#include "server/session/connection.h"
#include "server/session/fiber_socket_waiter.h"

namespace swizzle::server {
namespace {

/// Nothing: it is no address of TCP.
std::optional<IpAddress> ip_address(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    return IpAddress::from_bytes(std::as_bytes(std::span{&ipv4.sin_addr, 1}));
  }
  if (address.ss_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
    return IpAddress::from_bytes(std::as_bytes(std::span{&ipv6.sin6_addr, 1}));
  }
  return std::nullopt;
}
std::uint16_t ip_port(const sockaddr_storage& address) {
  // Both families have it in the same place.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// Where a connection over TCP comes from; the kernel's word for a unix socket's peer.
Peer identify(int socket, const sockaddr_storage& address) {
  Peer peer;
  peer.address = ip_address(address);
  if (peer.address) {
    peer.port = ip_port(address);
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
      peer.reached = ip_address(own);
      peer.reached_port = ip_port(own);
    }
  } else {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
      peer.user = credentials.uid;
    }
  }
  return peer;
}

void prepare_tcp(int socket) {
  const int on = 1;
  // Answers are whole when they are written: nothing is gained by holding them back.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

/// One listening socket and the fiber that accepts from it.
struct Acceptor::Door {
  ListeningSocket socket;
  std::atomic<bool> stop{false};
  std::atomic<Parker*> parker{nullptr};
  std::unique_ptr<Task> task;
};

Acceptor::Acceptor(FiberRuntime& runtime, ServerContext& context,
                   std::vector<ListeningSocket> sockets)
    : Acceptor(
          runtime,
          [&context](Stream& stream, const Peer& peer, SocketWaiter& waiter, BufferPool& buffers) {
            serve_connection(stream, peer, context, waiter, buffers);
          },
          std::move(sockets)) {}

Acceptor::Acceptor(FiberRuntime& runtime, Serve serve, std::vector<ListeningSocket> sockets)
    : runtime_(runtime), serve_(std::move(serve)) {
  for (std::size_t i = 0; i < runtime.reactor_count(); ++i) {
    buffers_.push_back(std::make_unique<BufferPool>());
  }
  for (ListeningSocket& socket : sockets) {
    doors_.push_back(std::make_unique<Door>());
    Door& door = *doors_.back();
    door.socket = std::move(socket);
    door.task =
        runtime.spawn("accept " + door.socket.name, [this, &door] { accept_until_stopped(door); });
  }
}

void Acceptor::stop() {
  for (const auto& door : doors_) {
    door->stop = true;
    if (Parker* parker = door->parker.load()) parker->unpark();
  }
  for (const auto& door : doors_) {
    door->task->join();
    if (door->socket.is_unix) ::unlink(door->socket.name.c_str());
  }
  doors_.clear();
}

Acceptor::~Acceptor() {
  stop();
}

void Acceptor::accept_until_stopped(Door& door) {
  const int listening = door.socket.descriptor.get();
  FiberSocketWaiter waiter{runtime_, listening};
  door.parker = &runtime_.parker();
  while (!door.stop) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    Descriptor socket{::accept4(listening, reinterpret_cast<sockaddr*>(&address), &size,
                                SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (socket.is_open()) {
      if (!door.socket.is_unix) prepare_tcp(socket.get());
      const Peer peer = identify(socket.get(), address);
      start_serving(std::move(socket), peer);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      waiter.wait(Readiness::readable, std::nullopt);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      // Out of descriptors or memory: those who wait keep waiting until somebody leaves.
      runtime_.parker().park_until(runtime_.now() + std::chrono::milliseconds{100});
    }
  }
  // stop() may still be about to unpark: it joins this fiber, whose parker outlives the runtime's
  // fibers.
}

void Acceptor::start_serving(Descriptor socket, const Peer& peer) {
  const std::size_t reactor = runtime_.next_reactor();
  runtime_.spawn_detached(reactor, "session",
                          // std::function wants to be copied, and a Descriptor cannot be.
                          [&runtime = runtime_, &serve = serve_, &buffers = *buffers_[reactor],
                           peer, shared = std::make_shared<Descriptor>(std::move(socket))] {
                            Stream stream{std::move(*shared)};
                            FiberSocketWaiter waiter{runtime, stream.descriptor()};
                            serve(stream, peer, waiter, buffers);
                          });
}

}  // namespace swizzle::server
