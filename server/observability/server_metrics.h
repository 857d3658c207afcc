#pragma once

#include <prometheus/metric_family.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "server/observability/statement_metrics.h"
#include "server/session/session_registry.h"
#include "sql-lite-frontend/session.h"
#include "storage/engine.h"
#include "storage/statistics.h"

namespace swizzle::server {

/// Gathers all of the server's counters on demand. Thread-safe.
class ServerMetrics {
 public:
  struct Sources {
    const Engine& engine;
    sql::Database& database;
    const SessionRegistry& sessions;
    const StatementMetrics& statements;
    const FiberRuntime& reactors;
    Duration recovery{};  ///< how long the start's recovery took
  };
  explicit ServerMetrics(Sources sources);

  /// Returns the metrics for Prometheus.
  [[nodiscard]] std::vector<prometheus::MetricFamily> families() const;
  /// Returns one object for the console, made once for all requests within kStatusFresh.
  [[nodiscard]] std::string status_json();
  static constexpr Duration kStatusFresh = std::chrono::milliseconds{900};

 private:
  [[nodiscard]] std::string make_status_json() const;

  Sources sources_;
  std::int64_t started_us_;
  std::mutex status_mutex_;
  std::string status_;
  TimePoint status_made_{};
};

}  // namespace swizzle::server
