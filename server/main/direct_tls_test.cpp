// TLS from the first byte, as libpq's sslnegotiation=direct begins a connection.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/testing/free_port.h"
#include "server/session/testing/fiber_server.h"
#include "server/session/testing/tls_door.h"

namespace swizzle::server::testing {
namespace {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
};

Descriptor connect_tcp(std::uint16_t port) {
  Descriptor socket{::socket(AF_INET, SOCK_STREAM, 0)};
  const timeval patience{10, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
          0);
  return socket;
}

/// A client that begins with a TLS handshake. `protocol`: with its length in front; empty: none.
class TlsClient {
 public:
  TlsClient(std::uint16_t port, std::string_view protocol)
      : socket_(connect_tcp(port)),
        context_(SSL_CTX_new(TLS_client_method())),
        tls_(SSL_new(context_.get())) {
    // OpenSSL writes to the socket without MSG_NOSIGNAL, also where the server has closed it.
    ::signal(SIGPIPE, SIG_IGN);
    const auto* name = reinterpret_cast<const unsigned char*>(protocol.data());
    if (!protocol.empty())
      SSL_set_alpn_protos(tls_.get(), name, static_cast<unsigned>(protocol.size()));
    SSL_set_fd(tls_.get(), socket_.get());
    is_connected_ = SSL_connect(tls_.get()) == 1;
  }

  [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
  void send(std::string_view bytes) {
    REQUIRE(SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
            static_cast<int>(bytes.size()));
  }
  /// Returns the kind of the next message; 0 if the server has closed the connection.
  char receive_kind() {
    std::array<std::byte, 5> header{};
    if (!receive(header)) return 0;
    std::string body(load_big_endian<std::uint32_t>(&header[1]) - 4, '\0');
    if (!receive({reinterpret_cast<std::byte*>(body.data()), body.size()})) return 0;
    return static_cast<char>(header[0]);
  }

 private:
  bool receive(std::span<std::byte> into) {
    while (!into.empty()) {
      const int got = SSL_read(tls_.get(), into.data(), static_cast<int>(into.size()));
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

  Descriptor socket_;
  std::unique_ptr<SSL_CTX, FreeTls> context_;
  std::unique_ptr<SSL, FreeTls> tls_;
  bool is_connected_ = false;
};

constexpr std::string_view kOurs = "\x0Apostgresql";
const std::string kStartup = startup_packet(text("user") + text("ann") + '\0');

}  // namespace

TEST_CASE("a connection may begin with TLS that names the protocol") {
  const FiberServer server{tls_door(), swizzle::testing::free_port()};
  SECTION("then start-up goes on under TLS") {
    TlsClient client{server.port(), kOurs};
    REQUIRE(client.is_connected());
    client.send(kStartup);
    CHECK(client.receive_kind() == 'R');
  }
  SECTION("without a protocol, or with another one, it is closed") {
    TlsClient unnamed{server.port(), {}};
    CHECK((!unnamed.is_connected() || unnamed.receive_kind() == 0));
    CHECK_FALSE(TlsClient(server.port(), "\x08http/1.1").is_connected());
  }
  SECTION("a request for TLS inside TLS closes") {
    TlsClient client{server.port(), kOurs};
    REQUIRE(client.is_connected());
    constexpr std::uint32_t kSslRequest = 80877103;
    client.send(startup_packet("", kSslRequest));
    CHECK(client.receive_kind() == 0);
  }
  SECTION("a client that stops in the handshake is closed in time") {
    const Descriptor socket = connect_tcp(server.port());
    REQUIRE(::send(socket.get(), "\x16", 1, MSG_NOSIGNAL) == 1);
    ::shutdown(socket.get(), SHUT_WR);
    // TLS says why before it closes.
    char byte = 0;
    ssize_t got = 1;
    while (got > 0) got = ::recv(socket.get(), &byte, 1, 0);
    CHECK((got == 0 || errno == ECONNRESET));
  }
}

TEST_CASE("a server without a certificate closes what begins with TLS") {
  const FiberServer server{TestServer::door("host all all all scram-sha-256"),
                           swizzle::testing::free_port()};
  CHECK_FALSE(TlsClient(server.port(), kOurs).is_connected());
}

}  // namespace swizzle::server::testing
