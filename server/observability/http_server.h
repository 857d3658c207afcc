#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

/// As much of HTTP/1 as a scraper and a browser need, by Boost.Beast: GET and HEAD, one request to
/// a connection. A peer that takes longer than a few seconds, or sends too much, is let go.
class HttpServer {
 public:
  /// Returns the response for a path, without the part that follows '?'.
  using Answer = std::function<HttpResponse(std::string_view path)>;

  /// The longest head of a request.
  static constexpr std::size_t kLongestHead = 8192;
  static constexpr int kMostAtOnce = 64;

  /// Serves while somebody runs `events`. `sockets` listen on TCP.
  HttpServer(boost::asio::io_context& events, std::vector<Descriptor> sockets, Answer answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Pre: nobody runs `events` any more.
  ~HttpServer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swizzle::server
