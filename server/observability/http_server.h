#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/hba.h"
#include "server/session/descriptor.h"

namespace boost::asio {
class io_context;
}

namespace swizzle::server {

struct HttpResponse {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

/// A request for a path below kAsidePaths, as far as its answer depends on it.
struct HttpRequest {
  bool is_post = false;
  std::string path;   ///< without the part that follows '?'
  std::string query;  ///< that part
  std::string body;
  std::string host;           ///< the header Host
  std::string origin;         ///< Origin: of the page that asks, where a browser says so
  std::string authorization;  ///< Authorization
  std::string marker;         ///< X-Swizzle-Console, which no other site's form or image can send
  std::optional<IpAddress> peer;
  std::uint16_t peer_port = 0;
};

/// As much of HTTP/1 as a scraper and a browser need, by Boost.Beast: GET, HEAD and OPTIONS, POST
/// below kAsidePaths, one request to a connection. A peer that takes longer than a few seconds, or
/// sends too much, is let go.
class HttpServer {
 public:
  /// Returns the response for a path, without the part that follows '?'.
  using Answer = std::function<HttpResponse(std::string_view path)>;
  /// Returns the response for a request whose answer may take a while.
  using AsideAnswer = std::function<HttpResponse(const HttpRequest& request)>;

  /// The longest head of a request, and the longest body.
  static constexpr std::size_t kLongestHead = 8192;
  static constexpr std::size_t kLongestBody = 4096;
  static constexpr int kMostAtOnce = 64;
  static constexpr std::string_view kAsidePaths = "/api/";

  /// Serves while somebody runs `events`. `sockets` listen on TCP. `aside` answers on one thread,
  /// one request after the other; the thread starts with the first. Without `aside` there is
  /// nothing below kAsidePaths.
  HttpServer(boost::asio::io_context& events, std::vector<Descriptor> sockets, Answer answer,
             AsideAnswer aside = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Waits for the thread that answers aside. Pre: nobody runs `events` any more.
  ~HttpServer();

  /// Runs `work` on the thread that answers aside, behind what it has to do. From any thread.
  void run_aside(std::function<void()> work);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace swizzle::server
