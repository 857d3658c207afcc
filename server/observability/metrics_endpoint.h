#pragma once

#include <string_view>

#include "server/observability/http_server.h"
#include "server/observability/server_metrics.h"

namespace swizzle::server {

/// Serves the metrics port: /metrics for Prometheus, / as text, /status.json for the console's
/// page, /health and roles, and the page's files. Needs no login, so it shows numbers only, no
/// data.
[[nodiscard]] HttpResponse metrics_answer(ServerMetrics& metrics, std::string_view path);

}  // namespace swizzle::server
