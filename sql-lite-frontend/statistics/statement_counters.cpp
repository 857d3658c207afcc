#include "sql-lite-frontend/statistics/statement_counters.h"

namespace swizzle::sql {

StatementCountersPtr StatementRegistry::of(Oid database, std::string_view text) {
  text = text.substr(0, kLongestText);
  const std::lock_guard lock{mutex_};
  const auto found = shapes_.find({database, text});
  if (found != shapes_.end()) return found->second;
  if (shapes_.size() >= kMost) return nullptr;
  auto fresh = std::make_shared<StatementCounters>(database, text);
  // The key's text is the counters' own.
  shapes_.emplace(std::pair{database, std::string_view{fresh->text}}, fresh);
  return fresh;
}

std::vector<StatementCountersPtr> StatementRegistry::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<StatementCountersPtr> list;
  for (const auto& [shape, counters] : shapes_) list.push_back(counters);
  return list;
}

}  // namespace swizzle::sql
