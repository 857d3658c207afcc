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

/// Parts of a request below kAsidePaths on which its answer depends.
struct HttpRequest {
  bool is_post = false;
  std::string path;   ///< without the query
  std::string query;  ///< after '?'
  std::string body;
  std::string host;           ///< the header Host
  std::string origin;         ///< Origin: the requesting page, if the browser sends it
  std::string authorization;  ///< Authorization
  std::string marker;  ///< X-Swizzle-Console, which forms and images of other sites cannot send
  std::optional<IpAddress> peer;
  std::uint16_t peer_port = 0;
};

/// Minimal HTTP/1 server for scrapers and browsers, on Boost.Beast: GET, HEAD and OPTIONS, POST
/// below kAsidePaths, one request per connection. Slow peers and oversized requests are cut off.
class HttpServer {
 public:
  /// Returns the response for a path, with its query if it has one.
  using Answer = std::function<HttpResponse(std::string_view target)>;
  /// Returns the response for a request whose answer may take time.
  using AsideAnswer = std::function<HttpResponse(const HttpRequest& request)>;

  /// Limits of a request's head and body in bytes.
  static constexpr std::size_t kLongestHead = 8192;
  static constexpr std::size_t kLongestBody = 4096;
  static constexpr int kMostAtOnce = 64;
  static constexpr std::string_view kAsidePaths = "/api/";

  /// Serves while `events` runs. `sockets` listen on TCP. `aside` answers on one thread, one
  /// request at a time; the thread is started with the first. Without `aside` there is nothing
  /// below kAsidePaths.
  HttpServer(boost::asio::io_context& events, std::vector<Descriptor> sockets, Answer answer,
             AsideAnswer aside = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Waits for the aside thread. Pre: `events` does not run any more.
  ~HttpServer();

  /// Runs `work` on the aside thread, after its queued work. From any thread.
  void run_aside(std::function<void()> work);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace swizzle::server
