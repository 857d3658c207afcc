#include "server/observability/metrics_endpoint.h"

#include <prometheus/text_serializer.h>

#include "server/console/page_files.h"
#include "server/observability/role_answers.h"

namespace swizzle::server {
namespace {

std::string_view content_type_of(std::string_view path) noexcept {
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

}  // namespace

HttpResponse metrics_answer(ServerMetrics& metrics, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = prometheus::TextSerializer{}.Serialize(metrics.families())};
  }
  if (path == "/status.json") {
    return {.content_type = "application/json", .body = metrics.status_json()};
  }
  if (auto answer = role_answer(path, {.role = ServerRole::primary}, "ready"))
    return *std::move(answer);
  if (const std::string_view file = page_file(path == "/" ? "/index.html" : path); !file.empty()) {
    return {.content_type = content_type_of(path), .body = std::string{file}};
  }
  return {.status = 404, .body = "/metrics, /status.json, /health, /primary or /\n"};
}

}  // namespace swizzle::server
