#pragma once

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/query/bind/query.h"

namespace swizzle::sql {

/// Parts of the select list that PostgreSQL computes after sorting, if that is visible:
/// set-returning calls unless they are sort keys; calls with effects; with LIMIT, subqueries, which
/// it thereby saves.
class Postponed {
 public:
  explicit Postponed(const Query& query) {
    if (query.order.empty() || query.distinct == Query::DistinctKind::all) return;
    is_ordered_ = true;
    has_limit_ = query.limit != nullptr;
    for (const SortKey& key : query.order) add(slots_read(*key.expr));
    for (const ExprPtr& expr : query.distinct_on) add(slots_read(*expr));
    for (const OutputTarget& target : query.targets) {
      if (target.expr && is_read(target.slot)) add(slots_read(*target.expr));
    }
    const auto is_sorted_by = [&](const SetItem& item) { return is_read(item.slot); };
    sets_ = !query.sets.empty() && std::ranges::none_of(query.sets, is_sorted_by);
    if (!sets_) return;
    for (const SetItem& item : query.sets) set_slots_.push_back(item.slot);
  }
  [[nodiscard]] bool sets() const noexcept { return sets_; }
  [[nodiscard]] bool contains(const OutputTarget& target) const {
    if (!is_ordered_ || !target.expr || is_read(target.slot)) return false;
    return is_volatile(*target.expr) || (has_limit_ && has_subquery(*target.expr)) ||
           reads_any(*target.expr, set_slots_);
  }

 private:
  void add(const std::vector<Slot>& slots) {
    read_.insert(read_.end(), slots.begin(), slots.end());
  }
  [[nodiscard]] bool is_read(Slot slot) const {
    return std::ranges::find(read_, slot) != read_.end();
  }

  bool is_ordered_ = false;
  bool has_limit_ = false;
  bool sets_ = false;
  std::vector<Slot> read_;
  std::vector<Slot> set_slots_;
};

}  // namespace swizzle::sql
