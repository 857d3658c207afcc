#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tpcc/driver.h"

namespace swizzle::tpcc {

/// Result of a run and its settings; names in the order in which they are to appear.
struct RunReport {
  std::vector<std::pair<std::string, std::string>> settings;
  RunResult result;
};

void print_report(const RunReport& report);
/// One object: settings, totals, kinds with their latencies in microseconds, and the timeline.
Result<> write_json(const RunReport& report, const std::filesystem::path& path);
/// The timeline: second, transactions, those of the first kind.
Result<> write_timeline(const RunReport& report, const std::filesystem::path& path);

}  // namespace swizzle::tpcc
