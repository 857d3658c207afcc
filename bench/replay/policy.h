#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swizzle::bench {

/// A replacement policy over a trace of page numbers, without pages, tree or I/O. Shows the
/// policy's hit rate apart from the cost of its bookkeeping in a real pool.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// Accesses `page` and makes it resident. Returns true if it was resident.
  virtual bool access(std::uint32_t page) = 0;
};

/// Parameters of a policy. OPT looks ahead, so it needs the trace.
struct PolicyTask {
  std::uint32_t frames = 0;
  std::uint32_t pages = 0;
  const std::vector<std::uint32_t>* trace = nullptr;
  std::uint64_t seed = 1;
};

/// Makes the policy: random, fifo, lru, gclock:<limit>, car, 2q, lean:<per cent cooling>,
/// sweep:<per cent>, opt; null for other names. `sweep` is the engine's: a usage counter of at most
/// 3, a sweep in tree order that decrements it and unswizzles at 0, and a clock hand over
/// unswizzled pages.
std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyTask& task);

}  // namespace swizzle::bench
