#include "tpcc/output.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace swizzle::tpcc {
namespace {

double microseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1'000;
}

double cpu_per_transaction(double seconds, const RunResult& result) {
  return result.transactions() == 0 ? 0
                                    : seconds * 1e6 / static_cast<double>(result.transactions());
}

std::string latency_json(const LatencyHistogram& latency) {
  return fmt::format(
      R"({{"mean": {:.2f}, "p50": {:.2f}, "p95": {:.2f}, "p99": {:.2f}, "p99.9": {:.2f}, "max": {:.2f}}})",
      latency.mean() / 1'000, microseconds(latency.percentile(0.5)),
      microseconds(latency.percentile(0.95)), microseconds(latency.percentile(0.99)),
      microseconds(latency.percentile(0.999)), microseconds(latency.highest()));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + "\"";
}

Result<> write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream file(path);
  file << content;
  file.flush();
  if (!file) return fail(sqlstate::io_error, "cannot write " + path.string());
  return {};
}

}  // namespace

void print_report(const RunReport& report) {
  const RunResult& result = report.result;
  fmt::print("\n{:<14}{:>12}{:>10}{:>9}{:>11}{:>11}{:>11}{:>11}{:>11}\n", "transaction",
             "committed", "rolled b.", "retries", "p50 µs", "p95", "p99", "p99.9", "max");
  for (std::size_t i = 0; i < result.kinds.size(); ++i) {
    const KindResult& kind = result.kinds[i];
    fmt::print("{:<14}{:>12}{:>10}{:>9}{:>10.0f}{:>11.0f}{:>11.0f}{:>11.0f}{:>11.0f}\n",
               result.info[i].name, kind.committed, kind.rolled_back, kind.retries,
               microseconds(kind.latency.percentile(0.5)),
               microseconds(kind.latency.percentile(0.95)),
               microseconds(kind.latency.percentile(0.99)),
               microseconds(kind.latency.percentile(0.999)), microseconds(kind.latency.highest()));
  }
  fmt::print(
      "\n{:.0f} transactions/s, {:.0f} {} per minute in {:.1f} s; CPU per transaction: client "
      "{:.1f} µs, "
      "server {:.1f} µs\n",
      result.per_second(), result.first_kind_per_minute(), result.info[0].name, result.seconds,
      cpu_per_transaction(result.client_cpu_seconds, result),
      cpu_per_transaction(result.server_cpu_seconds, result));
}

Result<> write_json(const RunReport& report, const std::filesystem::path& path) {
  const RunResult& result = report.result;
  std::string json = "{\n  \"settings\": {";
  const char* separator = "";
  for (const auto& [name, value] : report.settings) {
    json += fmt::format("{}\n    {}: {}", separator, quoted(name), quoted(value));
    separator = ",";
  }
  json += fmt::format(
      "\n  }},\n  \"seconds\": {:.3f},\n  \"transactions\": {},\n"
      "  \"transactions_per_second\": {:.1f},\n  \"first_kind_per_minute\": {:.1f},\n"
      "  \"client_cpu_us_per_transaction\": {:.2f},\n"
      "  \"server_cpu_us_per_transaction\": {:.2f},\n  \"kinds\": {{",
      result.seconds, result.transactions(), result.per_second(), result.first_kind_per_minute(),
      cpu_per_transaction(result.client_cpu_seconds, result),
      cpu_per_transaction(result.server_cpu_seconds, result));
  separator = "";
  for (std::size_t i = 0; i < result.kinds.size(); ++i) {
    const KindResult& kind = result.kinds[i];
    json += fmt::format(
        "{}\n    \"{}\": {{\"committed\": {}, \"rolled_back\": {}, \"retries\": {}, "
        "\"latency_us\": {}}}",
        separator, result.info[i].name, kind.committed, kind.rolled_back, kind.retries,
        latency_json(kind.latency));
    separator = ",";
  }
  json += "\n  },\n  \"timeline\": [";
  separator = "";
  for (const Second& second : result.timeline) {
    json += fmt::format("{}[{}, {}]", separator, second.transactions, second.first_kind);
    separator = ", ";
  }
  return write_file(path, json + "]\n}\n");
}

Result<> write_timeline(const RunReport& report, const std::filesystem::path& path) {
  std::string csv = "second,transactions,first_kind\n";
  std::size_t number = 0;
  for (const Second& second : report.result.timeline) {
    fmt::format_to(std::back_inserter(csv), "{},{},{}\n", ++number, second.transactions,
                   second.first_kind);
  }
  return write_file(path, csv);
}

}  // namespace swizzle::tpcc
