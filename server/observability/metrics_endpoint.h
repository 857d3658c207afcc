#pragma once

#include <string_view>

#include "server/observability/http_server.h"
#include "server/observability/server_metrics.h"

namespace swizzle::server {

/// Serves the metrics port: /metrics for Prometheus, / for people, /status.json for the page,
/// /health and other roles, and the page's files. Nothing there asks for a login, so it shows
/// numbers and no data.
[[nodiscard]] HttpResponse metrics_answer(ServerMetrics& metrics, std::string_view path);

}  // namespace swizzle::server
