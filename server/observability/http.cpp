#include "server/observability/http.h"

#include <fmt/format.h>

namespace swizzle::server {
namespace {

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

}  // namespace

bool is_complete_request(std::string_view bytes) noexcept {
  return bytes.find("\r\n\r\n") != std::string_view::npos ||
         bytes.find("\n\n") != std::string_view::npos;
}

std::optional<HttpRequest> parse_request(std::string_view bytes) noexcept {
  std::string_view line = bytes.substr(0, bytes.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  if (!line.substr(last + 1).starts_with("HTTP/1.")) return std::nullopt;
  HttpRequest request{line.substr(0, first), line.substr(first + 1, last - first - 1)};
  if (!request.path.starts_with('/') || request.path.find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  request.path = request.path.substr(0, request.path.find('?'));
  return request;
}

std::string encode_response(const HttpResponse& response, std::string_view method) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
      response.status, reason_of(response.status), response.content_type, response.body.size());
  if (method != "HEAD") text += response.body;
  return text;
}

}  // namespace swizzle::server
