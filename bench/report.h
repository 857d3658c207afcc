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

/// One measured number. `x` is the experiment's parameter (working set, skew, second …).
struct Sample {
  std::string system;
  double x = 0;
  unsigned threads = 1;
  unsigned repetition = 0;
  std::string metric;
  double value = 0;
};

/// Collects the samples of one experiment, writes them as a CSV whose first lines say where they
/// come from, and prints medians with their spread.
class Report {
 public:
  /// `csv` may be empty: then nothing is written.
  Report(std::string experiment, std::string x_name, std::filesystem::path csv);

  /// Another line of the header: what a reader needs to believe or repeat the numbers.
  void note(std::string_view name, std::string_view value);
  void note(std::string_view name, double value);
  /// Kept, and shown on the progress line.
  void add(Sample sample);

  /// The median over repetitions of everything added under these names; 0 if there is nothing.
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
