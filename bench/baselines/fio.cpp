#include "bench/baselines/fio.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace swizzle::bench {

std::optional<double> fio_reads_per_second(const std::filesystem::path& file, unsigned depth,
                                           double seconds) {
  constexpr unsigned kJobs = 2;
  const std::string command = fmt::format(
      "fio --name=reference --filename={} --readonly --rw=randread --bs=8k --direct=1 "
      "--ioengine=io_uring --iodepth={} --numjobs={} --group_reporting --time_based "
      "--runtime={:.0f} "
      "--output-format=terse --terse-version=3 2>/dev/null",
      file.string(), std::max(1U, depth / kJobs), kJobs, std::max(1.0, seconds));
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{popen(command.c_str(), "r")};
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> chunk;
  while (std::fgets(chunk.data(), chunk.size(), pipe.get()) != nullptr) output += chunk.data();
  // Terse version 3: the eighth field is read operations per second.
  std::size_t at = 0;
  for (int field = 0; field < 7; ++field) {
    at = output.find(';', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  const double rate = std::strtod(output.c_str() + at, nullptr);
  return rate > 0 ? std::optional{rate} : std::nullopt;
}

}  // namespace swizzle::bench
