#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swizzle::bench {

/// A replacement policy that is fed a trace of page numbers: no pages, no tree, no I/O. It shows
/// what a policy would keep, apart from what its bookkeeping costs in a real pool.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// Returns true if `page` was resident; it is afterwards.
  virtual bool access(std::uint32_t page) = 0;
};

/// The task that a policy is made for. OPT looks ahead, so it needs the trace.
struct PolicyTask {
  std::uint32_t frames = 0;
  std::uint32_t pages = 0;
  const std::vector<std::uint32_t>* trace = nullptr;
  std::uint64_t seed = 1;
};

/// random, fifo, lru, gclock:<limit>, car, 2q, lean:<per cent cooling>, sweep:<per cent>, opt; null
/// for anything else. `sweep` is ours: a usage counter of at most 3, a sweep that counts it down in
/// tree order and unswizzles at 0, and a clock hand over what is unswizzled.
std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyTask& task);

}  // namespace swizzle::bench
