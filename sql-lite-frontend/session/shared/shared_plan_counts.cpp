// Counts of plans for the server's metrics; separate so that tests link it without the SQL library.
#include <mutex>

#include "sql-lite-frontend/session/shared/shared_plans.h"

namespace swizzle::sql {

template <class Entry>
std::size_t SharedPlans::Parted<Entry>::size() const {
  std::size_t size = 0;
  for (const Part& part : parts_) {
    const std::lock_guard lock{part.mutex};
    size += part.entries.size();
  }
  return size;
}

SharedPlans::Counts SharedPlans::counts() const {
  return {plans_.size(), taken_.load(std::memory_order_relaxed),
          made_.load(std::memory_order_relaxed)};
}

}  // namespace swizzle::sql
