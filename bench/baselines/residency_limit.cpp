#include "bench/baselines/residency_limit.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/random.h"

namespace swizzle::bench {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

std::uint64_t file_backed_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssFile:")) return std::strtoull(line.c_str() + 8, nullptr, 10) << 10U;
  }
  return 0;
}

}  // namespace

ResidencyLimit::ResidencyLimit(MutableBytes map, std::uint64_t limit)
    : map_(map), limit_(limit), thread_([this] { run(); }) {}

ResidencyLimit::~ResidencyLimit() {
  stop_.store(true, std::memory_order_relaxed);
}

void ResidencyLimit::run() {
  Random random{1};
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::uint64_t resident = file_backed_bytes();
    if (resident <= limit_) {
      std::this_thread::sleep_for(std::chrono::microseconds{500});
      continue;
    }
    const std::uint64_t pieces = map_.size() / kPiece + 1;
    // Some pieces are not resident at all; the next check shows how much was freed.
    for (std::uint64_t i = 0; i < (resident - limit_) / kPiece + 1; ++i) {
      const std::uint64_t at = random.below(pieces) * kPiece;
      madvise(map_.data() + at, std::min<std::uint64_t>(kPiece, map_.size() - at), MADV_PAGEOUT);
    }
  }
}

}  // namespace swizzle::bench
