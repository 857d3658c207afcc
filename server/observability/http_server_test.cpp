#include "server/observability/http_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <semaphore>
#include <stdexcept>
#include <thread>

using namespace swizzle::server;

namespace {

/// A server on a thread that answers each path with its name.
class EchoServer {
 public:
  EchoServer() {
    Descriptor listening{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address_), sizeof address_) == 0);
    REQUIRE(::listen(listening.get(), 128) == 0);
    socklen_t size = sizeof address_;
    REQUIRE(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address_), &size) == 0);
    std::vector<Descriptor> sockets;
    sockets.push_back(std::move(listening));
    server_ = std::make_unique<HttpServer>(
        events_, std::move(sockets),
        [](std::string_view path) {
          return HttpResponse{.status = path == "/nothing" ? 404U : 200U,
                              .body = std::string{path}};
        },
        [this](const HttpRequest& request) { return answer_aside(request); });
    thread_ = std::thread{[this] { events_.run(); }};
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  ~EchoServer() {
    events_.stop();
    thread_.join();
    server_.reset();
  }

  /// Releases an answer that is waiting.
  void let_go() { gate_.release(); }

  [[nodiscard]] Descriptor connect() const {
    Descriptor client{::socket(AF_INET, SOCK_STREAM, 0)};
    // A missing answer fails a check instead of hanging the test.
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    REQUIRE(::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address_),
                      sizeof address_) == 0);
    return client;
  }
  /// Returns everything until the server closes the connection.
  [[nodiscard]] std::string ask(std::string_view request) const {
    const Descriptor client = connect();
    REQUIRE(::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
    return rest_of(client);
  }
  static std::string rest_of(const Descriptor& client) {
    std::string all;
    std::array<char, 4096> piece{};
    for (;;) {
      const ssize_t bytes = ::recv(client.get(), piece.data(), piece.size(), 0);
      if (bytes <= 0) return all;
      all.append(piece.data(), static_cast<std::size_t>(bytes));
    }
  }

 private:
  HttpResponse answer_aside(const HttpRequest& request) {
    if (request.path == "/api/throws") throw std::runtime_error{"no"};
    if (request.path == "/api/waits") gate_.acquire();
    return {.body = std::string{request.is_post ? "POST " : "GET "} + request.path + "|" +
                    request.query + "|" + request.body + "|" + request.host + "|" + request.origin +
                    "|" + request.authorization + "|" + request.marker + "|" +
                    (request.peer ? request.peer->text() : "")};
  }

  std::binary_semaphore gate_{0};
  sockaddr_in address_{};
  boost::asio::io_context events_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("GET is answered by its path and query, and the connection ends", "[observability]") {
  const EchoServer server;
  const std::string text = server.ask("GET /metrics?name=up HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(text.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(text.find("Content-Type: text/plain; charset=utf-8\r\n") != std::string::npos);
  CHECK(text.find("Content-Length: 16\r\n") != std::string::npos);
  CHECK(text.find("Connection: close\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n/metrics?name=up"));
  CHECK(server.ask("GET /nothing HTTP/1.0\r\n\r\n").find(" 404 Not Found\r\n") !=
        std::string::npos);
}

TEST_CASE("HEAD gets the head alone, with the length that GET would bring", "[observability]") {
  const EchoServer server;
  const std::string text = server.ask("HEAD /four HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(text.find("Content-Length: 5\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE("OPTIONS gets the code that GET would bring", "[observability]") {
  const EchoServer server;
  CHECK(server.ask("OPTIONS /four HTTP/1.0\r\n\r\n").find(" 200 OK\r\n") != std::string::npos);
  CHECK(server.ask("OPTIONS /nothing HTTP/1.0\r\n\r\n").find(" 404 Not Found\r\n") !=
        std::string::npos);
}

TEST_CASE("what is not GET, or no HTTP, is refused", "[observability]") {
  const EchoServer server;
  CHECK(server.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").find(" 405 ") !=
        std::string::npos);
  for (const char* request : {"GET\r\n\r\n", "GET / HTTP/2\r\n\r\n", "\1\2\3\r\n\r\n"}) {
    CAPTURE(request);
    CHECK(server.ask(request).find(" 400 Bad Request\r\n") != std::string::npos);
  }
  const std::string long_line = "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n";
  const std::string answer = server.ask(long_line);
  CHECK((answer.empty() || answer.find(" 400 Bad Request\r\n") != std::string::npos));
}

TEST_CASE("those who say nothing are let go, and too many are refused meanwhile",
          "[observability]") {
  const EchoServer server;
  std::vector<Descriptor> silent;
  for (int i = 0; i < HttpServer::kMostAtOnce; ++i) silent.push_back(server.connect());
  CHECK(server.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").find(" 503 ") != std::string::npos);
  CHECK(EchoServer::rest_of(silent.front()).empty());
}

TEST_CASE("a request below /api/ is answered aside, with what it says of itself",
          "[observability]") {
  const EchoServer server;
  CHECK(server.ask("GET /api/a?b=c HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer t\r\n\r\n")
            .ends_with("\r\n\r\nGET /api/a|b=c||h:1||Bearer t||127.0.0.1"));
  CHECK(server
            .ask("POST /api/a HTTP/1.1\r\nHost: h\r\nOrigin: http://o\r\nX-Swizzle-Console: 1\r\n"
                 "Content-Length: 3\r\n\r\nd=e")
            .ends_with("\r\n\r\nPOST /api/a||d=e|h|http://o||1|127.0.0.1"));
  CHECK(server.ask("PUT /api/a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").find(" 405 ") !=
        std::string::npos);
  CHECK(
      server.ask("POST /api/a HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n").find(" 400 ") !=
      std::string::npos);
  CHECK(server.ask("GET /api/throws HTTP/1.1\r\nHost: h\r\n\r\n").find(" 503 ") !=
        std::string::npos);
  CHECK(server.ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
            .find("Content-Security-Policy: default-src 'none'") != std::string::npos);
}

TEST_CASE("an answer that takes its time keeps no other path waiting", "[observability]") {
  EchoServer server;
  std::string slow;
  std::thread asker{[&] { slow = server.ask("GET /api/waits HTTP/1.1\r\nHost: h\r\n\r\n"); }};
  for (int i = 0; i < 3; ++i) {
    CHECK(server.ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("/metrics"));
  }
  CHECK(slow.empty());
  server.let_go();
  asker.join();
  CHECK(slow.find("GET /api/waits") != std::string::npos);
}
