#include "server/observability/metrics_endpoint.h"

#include <prometheus/text_serializer.h>

namespace swizzle::server {

HttpResponse metrics_answer(const ServerMetrics& metrics, std::string_view path) {
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = prometheus::TextSerializer{}.Serialize(metrics.families())};
  }
  if (path == "/status.json") {
    return {.content_type = "application/json", .body = metrics.status_json()};
  }
  if (path == "/") {
    return {.content_type = "text/html; charset=utf-8", .body = std::string{status_page()}};
  }
  if (path == "/health") return {.body = "ready\n"};
  return {.status = 404, .body = "/metrics, /status.json, /health or /\n"};
}

}  // namespace swizzle::server
