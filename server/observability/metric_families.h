#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "base/runtime/duration_histogram.h"

namespace swizzle::server {

/// Builds metrics for Prometheus.
class MetricFamilies {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  /// Values of one name, with different labels, are one family wherever they are added.
  void counter(const std::string& name, const std::string& help, double value, Labels labels = {});
  void gauge(const std::string& name, const std::string& help, double value, Labels labels = {});
  void histogram(const std::string& name, const std::string& help,
                 const DurationHistogram::Counts& counts, Labels labels = {});

  [[nodiscard]] std::vector<prometheus::MetricFamily> take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, Labels labels);
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace swizzle::server
