#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::server {

/// As much of HTTP/1 as a scraper and a browser need: one request without a body per connection.
struct HttpRequest {
  std::string_view method;
  std::string_view path;  ///< without what follows '?'
};

/// The longest request that is read.
inline constexpr std::size_t kMaxHttpRequestBytes = 8192;

/// Whether `bytes` hold a request's head to its end.
[[nodiscard]] bool is_complete_request(std::string_view bytes) noexcept;
/// Nothing when it is not HTTP. Pre: complete.
[[nodiscard]] std::optional<HttpRequest> parse_request(std::string_view bytes) noexcept;

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body = {};
};
/// The connection is closed behind it. With HEAD, the body is left out.
[[nodiscard]] std::string encode_response(const HttpResponse& response, std::string_view method);

}  // namespace swizzle::server
