#include "server/observability/metrics_endpoint.h"

#include <prometheus/text_serializer.h>

#include <array>

#include "base/runtime.h"
#include "server/observability/http.h"

namespace swizzle::server {
namespace {

constexpr Duration kPatience = std::chrono::seconds{5};
constexpr int kMostAtOnce = 64;

/// Waits for what `step` asks for until it is done. False: closed, or out of patience.
template <class Step>
bool repeat(SocketWaiter& waiter, TimePoint deadline, const Step& step) {
  for (;;) {
    switch (step()) {
      case Transfer::State::moved:
        return true;
      case Transfer::State::wants_readable:
        if (!waiter.wait(Readiness::readable, deadline)) return false;
        break;
      case Transfer::State::wants_writable:
        if (!waiter.wait(Readiness::writable, deadline)) return false;
        break;
      case Transfer::State::closed:
        return false;
    }
  }
}

bool receive(Stream& stream, SocketWaiter& waiter, TimePoint deadline, std::string& request) {
  while (!is_complete_request(request)) {
    if (request.size() >= kMaxHttpRequestBytes) return false;
    std::array<std::byte, 1024> piece;
    std::size_t bytes = 0;
    const bool received = repeat(waiter, deadline, [&] {
      const Transfer transfer = stream.read(piece);
      bytes = transfer.bytes;
      return transfer.state;
    });
    if (!received || bytes == 0) return false;
    request.append(reinterpret_cast<const char*>(piece.data()), bytes);
  }
  return true;
}

void send(Stream& stream, SocketWaiter& waiter, TimePoint deadline, std::string_view text) {
  while (!text.empty()) {
    std::size_t bytes = 0;
    const bool sent = repeat(waiter, deadline, [&] {
      const Transfer transfer = stream.write(as_bytes(text));
      bytes = transfer.bytes;
      return transfer.state;
    });
    if (!sent) return;
    text.remove_prefix(bytes);
  }
}

}  // namespace

void MetricsEndpoint::serve(Stream& stream, SocketWaiter& waiter) {
  const TimePoint deadline = Runtime::current().now() + kPatience;
  if (being_served_.fetch_add(1) >= kMostAtOnce) {
    send(stream, waiter, deadline,
         encode_response({.status = 503, .body = "too many at once\n"}, "GET"));
  } else if (std::string request; receive(stream, waiter, deadline, request)) {
    send(stream, waiter, deadline, answer(request));
  }
  being_served_.fetch_sub(1);
  stream.close();
}

std::string MetricsEndpoint::answer(std::string_view request) const {
  const auto parsed = parse_request(request);
  if (!parsed) return encode_response({.status = 400, .body = "not HTTP/1\n"}, "GET");
  const auto [method, path] = *parsed;
  HttpResponse response;
  if (method != "GET" && method != "HEAD") {
    response = {.status = 405, .body = "GET and HEAD only\n"};
  } else if (path == "/metrics") {
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = prometheus::TextSerializer{}.Serialize(metrics_.families());
  } else if (path == "/status.json") {
    response.content_type = "application/json";
    response.body = metrics_.status_json();
  } else if (path == "/") {
    response.content_type = "text/html; charset=utf-8";
    response.body = status_page();
  } else if (path == "/health") {
    response.body = "ready\n";
  } else {
    response = {.status = 404, .body = "/metrics, /status.json, /health or /\n"};
  }
  return encode_response(response, method);
}

}  // namespace swizzle::server
