#include "server/observability/metric_families.h"

#include <algorithm>
#include <limits>

namespace swizzle::server {

prometheus::ClientMetric& MetricFamilies::add(const std::string& name, const std::string& help,
                                              prometheus::MetricType type, Labels labels) {
  auto family = std::ranges::find(families_, name, &prometheus::MetricFamily::name);
  if (family == families_.end()) {
    family = families_.insert(families_.end(), {name, help, type, {}});
  }
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  for (auto& [label, value] : labels) metric.label.push_back({label, std::move(value)});
  return metric;
}

void MetricFamilies::counter(const std::string& name, const std::string& help, double value,
                             Labels labels) {
  add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value = value;
}

void MetricFamilies::gauge(const std::string& name, const std::string& help, double value,
                           Labels labels) {
  add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value = value;
}

void MetricFamilies::histogram(const std::string& name, const std::string& help,
                               const DurationHistogram::Counts& counts, Labels labels) {
  auto& metric = add(name, help, prometheus::MetricType::Histogram, std::move(labels)).histogram;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < DurationHistogram::kBoundsUs.size(); ++i) {
    below += counts.steps[i];
    metric.bucket.push_back({below, DurationHistogram::kBoundsUs[i] * 1e-6});
  }
  metric.sample_count = below + counts.steps.back();
  metric.bucket.push_back({metric.sample_count, std::numeric_limits<double>::infinity()});
  metric.sample_sum = static_cast<double>(counts.sum_ns) * 1e-9;
}

}  // namespace swizzle::server
