#include "bench/baselines/fio.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace swizzle::bench {

namespace {

/// A field of the line that fio prints in its terse format, version 3, counted from 0.
std::optional<double> run_fio(const std::filesystem::path& file, const std::string& load,
                              double seconds, int field) {
  const std::string command = fmt::format(
      "fio --name=reference --filename={} --readonly --direct=1 --ioengine=io_uring {} "
      "--group_reporting --time_based --runtime={:.0f} --output-format=terse --terse-version=3 "
      "2>/dev/null",
      file.string(), load, std::max(1.0, seconds));
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{popen(command.c_str(), "r")};
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> chunk;
  while (std::fgets(chunk.data(), chunk.size(), pipe.get()) != nullptr) output += chunk.data();
  std::size_t at = 0;
  for (int skipped = 0; skipped < field; ++skipped) {
    at = output.find(';', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  const double rate = std::strtod(output.c_str() + at, nullptr);
  return rate > 0 ? std::optional{rate} : std::nullopt;
}

}  // namespace

std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds) {
  constexpr unsigned kJobs = 2;
  constexpr int kReadsPerSecond = 7;
  return run_fio(file,
                 fmt::format("--rw=randread --bs=8k --iodepth={} --numjobs={}",
                             std::max(1U, depth / kJobs), kJobs),
                 seconds, kReadsPerSecond);
}

std::optional<double> fio_sequential_mib_per_second(const std::filesystem::path& file,
                                                    double seconds) {
  constexpr int kKibPerSecond = 6;
  const auto kib = run_fio(file, "--rw=read --bs=1m --iodepth=4", seconds, kKibPerSecond);
  return kib ? std::optional{*kib / 1024} : std::nullopt;
}

}  // namespace swizzle::bench
