#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace swizzle::bench {

/// A measured number. `x` is the experiment's parameter: working set, skew, second and so on.
struct Sample {
  std::string system;
  double x = 0;
  unsigned threads = 1;
  unsigned repetition = 0;
  std::string metric;
  double value = 0;
};

/// Collects an experiment's samples, writes them as CSV with their origin in the first lines, and
/// prints medians with their spread.
class Report {
 public:
  /// `csv` empty: no file is written.
  Report(std::string experiment, std::string x_name, std::filesystem::path csv);

  /// Adds a line to the header: conditions needed to judge or repeat the numbers.
  void note(std::string_view name, std::string_view value);
  void note(std::string_view name, double value);
  /// Adds a sample and shows it on the progress line.
  void add(Sample sample);

  /// Returns the median over all repetitions under these names; 0 if there are none.
  [[nodiscard]] double median(std::string_view system, double x, unsigned threads,
                              std::string_view metric) const;
  void print_summary() const;
  Result<> write() const;

 private:
  std::string experiment_;
  std::string x_name_;
  std::filesystem::path csv_;
  std::vector<std::pair<std::string, std::string>> notes_;
  std::vector<Sample> samples_;
};

}  // namespace swizzle::bench
