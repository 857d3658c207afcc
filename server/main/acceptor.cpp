#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

#include "server/main/listener.h"
#include "server/session/connection.h"
#include "server/session/fiber_socket_waiter.h"
#include "sql-lite-frontend/session/shared/database_shared.h"

namespace swizzle::server {
namespace {

namespace asio = boost::asio;

/// Returns nothing if it is no address of TCP.
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
  // Both families have the port at the same offset.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// Returns the origin of a connection: addresses and ports over TCP, the kernel's user id for a
/// unix socket.
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
  // Answers are complete when they are written, so delaying them gains nothing.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

/// One listening socket, and the coroutine that accepts from it.
struct Acceptor::Door {
  Door(Acceptor& owner, asio::io_context& events, ListeningSocket listening)
      : acceptor(owner),
        socket(std::move(listening)),
        arrivals(events, socket.descriptor.release()),
        pause(events) {}

  asio::awaitable<void> accept();
  /// Returns an invalid descriptor if no client waits, or none can be accepted now.
  Descriptor accept_one(Peer& peer);

  Acceptor& acceptor;
  ListeningSocket socket;
  asio::posix::stream_descriptor arrivals;
  asio::steady_timer pause;
};

Acceptor::Acceptor(asio::io_context& events, FiberRuntime& runtime, ServerContext& context,
                   std::vector<ListeningSocket> sockets)
    : Acceptor(
          events, runtime, &context.database().shared().memory,
          [&context](Stream& stream, const Peer& peer, SocketWaiter& waiter, BufferPool& buffers) {
            serve_connection(stream, peer, context, waiter, buffers);
          },
          std::move(sockets)) {}

Acceptor::Acceptor(asio::io_context& events, FiberRuntime& runtime, sql::MemoryTotal* memory,
                   Serve serve, std::vector<ListeningSocket> sockets)
    : runtime_(runtime), serve_(std::move(serve)) {
  for (std::size_t i = 0; i < runtime.reactor_count(); ++i) {
    buffers_.push_back(memory == nullptr ? std::make_unique<BufferPool>()
                                         : std::make_unique<BufferPool>(*memory));
  }
  for (ListeningSocket& socket : sockets) {
    doors_.push_back(std::make_unique<Door>(*this, events, std::move(socket)));
    asio::co_spawn(events, doors_.back()->accept(), asio::detached);
  }
}

void Acceptor::stop() noexcept {
  for (const auto& door : doors_) {
    boost::system::error_code ignored;
    static_cast<void>(door->arrivals.close(ignored));
    if (door->socket.is_unix) ::unlink(door->socket.name.c_str());
  }
  doors_.clear();
}

std::vector<ListeningSocket> Acceptor::release() {
  std::vector<ListeningSocket> sockets;
  for (const auto& door : doors_) {
    door->socket.descriptor = Descriptor{door->arrivals.release()};
    sockets.push_back(std::move(door->socket));
  }
  doors_.clear();
  return sockets;
}

Acceptor::~Acceptor() {
  stop();
}

asio::awaitable<void> Acceptor::Door::accept() {
  boost::system::error_code failure;
  while (arrivals.is_open()) {
    Peer peer;
    Descriptor client = accept_one(peer);
    const int reason = errno;
    bool is_let_in = client.is_open();
    if (is_let_in) {
      try {
        acceptor.start_serving(std::move(client), peer);
      } catch (const std::bad_alloc&) {
        is_let_in = false;
      }
    } else if (reason == EAGAIN || reason == EWOULDBLOCK) {
      co_await arrivals.async_wait(asio::posix::stream_descriptor::wait_read,
                                   asio::redirect_error(asio::use_awaitable, failure));
      continue;
    } else if (reason == EINTR || reason == ECONNABORTED) {
      continue;
    }
    if (!is_let_in) {
      // Out of descriptors or memory: waiting clients stay in the backlog until a connection ends.
      pause.expires_after(std::chrono::milliseconds{100});
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failure));
    }
  }
}

Descriptor Acceptor::Door::accept_one(Peer& peer) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Descriptor client{::accept4(arrivals.native_handle(), reinterpret_cast<sockaddr*>(&address),
                              &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (client.is_open()) {
    if (!socket.is_unix) prepare_tcp(client.get());
    peer = identify(client.get(), address);
  }
  return client;
}

void Acceptor::start_serving(Descriptor socket, const Peer& peer) {
  const std::size_t reactor = runtime_.next_reactor();
  // std::function requires a copyable object, and a Stream is not.
  const auto stream = std::make_shared<Stream>(std::move(socket));
  const auto serve = [&runtime = runtime_, &serve_client = serve_, &buffers = *buffers_[reactor],
                      peer, stream] {
    std::optional<FiberSocketWaiter> waiter;
    try {
      waiter.emplace(runtime, stream->descriptor());
    } catch (const std::system_error&) {
      // The kernel has no memory to watch the socket, or the user's limit of watches is reached.
      return refuse_without_memory(*stream);
    }
    serve_client(*stream, peer, *waiter, buffers);
  };
  runtime_.spawn_detached(reactor, "session", serve, [stream] { refuse_without_memory(*stream); });
}

}  // namespace swizzle::server
