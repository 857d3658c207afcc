#include "sql-lite-frontend/catalog/sharded_counters.h"

#include <algorithm>

namespace swizzle::sql {

std::size_t counter_shard() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine =
      std::min(next.fetch_add(1, std::memory_order_relaxed), kCounterShards - 1);
  return mine;
}

}  // namespace swizzle::sql
