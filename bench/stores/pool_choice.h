#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/buffer/compare/main_memory_pool.h"
#include "storage/buffer/compare/traditional_pool.h"
#include "storage/buffer/swizzling_pool.h"
#include "storage/options.h"

namespace swizzle::bench {

/// A pool mode and its replacement policy, as written in parameters: "swizzling",
/// "traditional/car", "swizzling/cooling:20" and so on.
struct PoolChoice {
  PoolMode mode = PoolMode::swizzling;
  ReplacementOptions replacement;
};

/// Parses clock_sweep[:<per cent unswizzled>], random, gclock[:<limit>], car, lru, cooling[:<per
/// cent>]. 22023 for anything else.
Result<ReplacementOptions> parse_replacement(std::string_view text);
/// Parses swizzling, traditional or main_memory, optionally with a slash and a policy.
Result<PoolChoice> parse_pool(std::string_view text);

/// Calls `work.operator()<Pool>()` for the pool class of a mode.
template <class Work>
auto with_pool_of(PoolMode mode, Work work) {
  if (mode == PoolMode::traditional) return work.template operator()<TraditionalPool>();
  if (mode == PoolMode::main_memory) return work.template operator()<MainMemoryPool>();
  return work.template operator()<SwizzlingPool>();
}

}  // namespace swizzle::bench
