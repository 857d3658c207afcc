#include "bench/baselines/fio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace swizzle::bench {

namespace {

using Fields = std::vector<std::string>;

/// Runs fio and splits the line that it prints in terse format, version 3, at its semicolons.
std::optional<Fields> run_fio(const std::filesystem::path& file, const std::string& load,
                              double seconds) {
  const std::string command = fmt::format(
      "fio --name=reference --filename={} --direct=1 --ioengine=io_uring {} "
      "--group_reporting --time_based --runtime={:.0f} --output-format=terse --terse-version=3 "
      "2>/dev/null",
      file.string(), load, std::max(1.0, seconds));
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{popen(command.c_str(), "r")};
  if (pipe == nullptr) return std::nullopt;
  Fields fields{1};
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    if (c == ';') {
      fields.emplace_back();
    } else {
      fields.back() += static_cast<char>(c);
    }
  }
  constexpr std::size_t kShortest = 49;
  return fields.size() < kShortest ? std::nullopt : std::optional{fields};
}

double number_of(const Fields& fields, std::size_t field) {
  return std::strtod(fields[field].c_str(), nullptr);
}

constexpr std::size_t kReadKibPerSecond = 6;
constexpr std::size_t kReadsPerSecond = 7;
constexpr std::size_t kWritesPerSecond = 48;
constexpr unsigned kJobs = 2;

}  // namespace

std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds) {
  const auto fields =
      run_fio(file,
              fmt::format("--readonly --rw=randread --bs=8k --iodepth={} --numjobs={}",
                          std::max(1U, depth / kJobs), kJobs),
              seconds);
  return fields ? std::optional{number_of(*fields, kReadsPerSecond)} : std::nullopt;
}

std::optional<double> fio_mixed_transfers_per_second(const std::filesystem::path& directory,
                                                     std::uint64_t bytes, unsigned depth,
                                                     unsigned reads_percent, double seconds) {
  const auto file = directory / "fio-mixed";
  const auto fields = run_fio(
      file,
      fmt::format(
          "--rw=randrw --rwmixread={} --sync=dsync --bs=8k --size={} --iodepth={} --numjobs={}",
          reads_percent, bytes, std::max(1U, depth / kJobs), kJobs),
      seconds);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!fields) return std::nullopt;
  return number_of(*fields, kReadsPerSecond) + number_of(*fields, kWritesPerSecond);
}

std::optional<double> fio_sequential_mib_per_second(const std::filesystem::path& file,
                                                    double seconds) {
  const auto fields = run_fio(file, "--readonly --rw=read --bs=1m --iodepth=4", seconds);
  return fields ? std::optional{number_of(*fields, kReadKibPerSecond) / 1024} : std::nullopt;
}

}  // namespace swizzle::bench
