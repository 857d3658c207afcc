#include "sql-lite-frontend/catalog/statistics/statement_counters.h"

#include <algorithm>

namespace swizzle::sql {

StatementCountersPtr StatementRegistry::of(Oid database, std::string_view text) {
  text = text.substr(0, kLongestText);
  const std::lock_guard lock{mutex_};
  const auto found = shapes_.find({database, text});
  if (found != shapes_.end()) return found->second;
  if (shapes_.size() >= kMost) evict();
  auto fresh = std::make_shared<StatementCounters>(database, text);
  // The map's key is a view of the counters' own text.
  shapes_.emplace(std::pair{database, std::string_view{fresh->text}}, fresh);
  return fresh;
}

/// Evicts the least used twentieth. Calls before the previous eviction count half, so that unused
/// shapes leave in time.
void StatementRegistry::evict() {
  std::vector<StatementCounters*> by_usage;
  by_usage.reserve(shapes_.size());
  for (const auto& [shape, counters] : shapes_) {
    const std::uint64_t calls = counters->counters.total(StatementCounted::calls);
    counters->usage = counters->usage / 2 + static_cast<double>(calls - counters->calls_before);
    counters->calls_before = calls;
    by_usage.push_back(counters.get());
  }
  const auto last = by_usage.begin() + static_cast<std::ptrdiff_t>(by_usage.size() / 20);
  std::ranges::nth_element(by_usage, last, {}, &StatementCounters::usage);
  for (auto counters = by_usage.begin(); counters != last; ++counters) {
    shapes_.erase({(*counters)->database, std::string_view{(*counters)->text}});
  }
}

std::vector<StatementCountersPtr> StatementRegistry::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<StatementCountersPtr> list;
  for (const auto& [shape, counters] : shapes_) list.push_back(counters);
  return list;
}

}  // namespace swizzle::sql
