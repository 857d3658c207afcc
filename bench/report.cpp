#include "bench/report.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/invariant.h"

namespace swizzle::bench {
namespace {

std::string first_line_of(const char* path, std::string_view starting_with) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(starting_with)) continue;
    const std::size_t colon = line.find(':');
    return colon == std::string::npos ? line
                                      : line.substr(line.find_first_not_of(" \t", colon + 1));
  }
  return "unknown";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  gmtime_r(&now, &fields);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

/// Returns the kernel's name and version without suffixes of distributor or host.
std::string kernel() {
  utsname name{};
  uname(&name);
  const std::string release = name.release;
  return std::string{name.sysname} + " " + release.substr(0, release.find('-'));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Report::Report(std::string experiment, std::string x_name, std::filesystem::path csv)
    : experiment_(std::move(experiment)), x_name_(std::move(x_name)), csv_(std::move(csv)) {
  note("experiment", experiment_);
  note("taken", now_utc());
  // Set by scripts/bench: a program cannot ask git about a tree that may have changed since the
  // build.
  for (const auto& [name, variable] :
       {std::pair{"commit", "SWIZZLE_COMMIT"}, std::pair{"command", "SWIZZLE_COMMAND"},
        std::pair{"peers", "SWIZZLE_PEERS"}, std::pair{"load_before", "SWIZZLE_LOAD"}}) {
    const char* value = std::getenv(variable);
    note(name, value != nullptr ? value : "unknown");
  }
  note("machine",
       fmt::format("{}, {} CPUs, {}", first_line_of("/proc/cpuinfo", "model name"),
                   sysconf(_SC_NPROCESSORS_ONLN), first_line_of("/proc/meminfo", "MemTotal")));
  note("kernel", kernel());
  note("compiler", fmt::format("{} {}", "g++", __VERSION__));
}

void Report::note(std::string_view name, std::string_view value) {
  notes_.emplace_back(name, value);
}

void Report::note(std::string_view name, double value) {
  notes_.emplace_back(name, fmt::format("{}", value));
}

void Report::add(Sample sample) {
  INVARIANT(!sample.system.contains(','));  // no quoting in the CSV
  fmt::print(stderr, "  {} {}={:g} threads={} #{}: {} = {:.6g}\n", sample.system, x_name_, sample.x,
             sample.threads, sample.repetition, sample.metric, sample.value);
  samples_.push_back(std::move(sample));
}

double Report::median(std::string_view system, double x, unsigned threads,
                      std::string_view metric) const {
  std::vector<double> values;
  for (const Sample& sample : samples_) {
    if (sample.system == system && sample.x == x && sample.threads == threads &&
        sample.metric == metric) {
      values.push_back(sample.value);
    }
  }
  return median_of(std::move(values));
}

void Report::print_summary() const {
  std::map<std::tuple<std::string, double, unsigned, std::string>, std::vector<double>> groups;
  for (const Sample& sample : samples_) {
    groups[{sample.metric, sample.x, sample.threads, sample.system}].push_back(sample.value);
  }
  fmt::print("{:<22} {:>10} {:>7} {:<24} {:>14} {:>8} {:>3}\n", "metric", x_name_, "threads",
             "system", "median", "spread", "n");
  for (const auto& [key, values] : groups) {
    const auto& [metric, x, threads, system] = key;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double median = median_of(values);
    const double spread = median == 0 ? 0 : (*high - *low) / median * 100;
    fmt::print("{:<22} {:>10g} {:>7} {:<24} {:>14.6g} {:>7.1f}% {:>3}\n", metric, x, threads,
               system, median, spread, values.size());
  }
}

Result<> Report::write() const {
  if (csv_.empty()) return {};
  std::ofstream file(csv_);
  for (const auto& [name, value] : notes_) file << "# " << name << ": " << value << "\n";
  file << "system," << x_name_ << ",threads,repetition,metric,value\n";
  for (const Sample& sample : samples_) {
    file << fmt::format("{},{:g},{},{},{},{:.8g}\n", sample.system, sample.x, sample.threads,
                        sample.repetition, sample.metric, sample.value);
  }
  file.flush();
  if (!file) return fail(sqlstate::io_error, "cannot write " + csv_.string());
  return {};
}

}  // namespace swizzle::bench
