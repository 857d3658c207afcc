#pragma once

#include <string>

#include "server/observability/server_metrics.h"
#include "server/session/socket_waiter.h"
#include "server/session/stream.h"

namespace swizzle::server {

/// What is at the metrics port: /metrics for Prometheus, / for people, /status.json for the page,
/// /health. Thread-safe. Nobody has to prove who he is, so it shows numbers and no data.
class MetricsEndpoint {
 public:
  explicit MetricsEndpoint(const ServerMetrics& metrics) : metrics_(metrics) {}

  /// Answers one request and closes. A peer that takes longer than a few seconds, or asks for too
  /// much, is let go.
  void serve(Stream& stream, SocketWaiter& waiter);

  /// The answer to a whole request.
  [[nodiscard]] std::string answer(std::string_view request) const;

 private:
  const ServerMetrics& metrics_;
  std::atomic<int> being_served_{0};
};

/// The page: HTML with style and script, without anything from elsewhere.
[[nodiscard]] std::string_view status_page() noexcept;

}  // namespace swizzle::server
