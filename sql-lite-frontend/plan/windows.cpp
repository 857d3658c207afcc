// Window functions: the order that each window wants.
#include <algorithm>

#include "sql-lite-frontend/execute/basic_operators.h"
#include "sql-lite-frontend/execute/expression_copy.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/expected.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {

/// Sorts for each window, unless the one before came in an order that begins with its own.
PlanPtr Planner::add_windows(PlanPtr plan, std::vector<WindowDefinition> windows) {
  check_stack_for(windows.size());
  std::vector<SortKey> present;
  for (WindowDefinition& window : windows) {
    std::vector<SortKey> wanted;
    std::vector<Project::Computed> computed;
    for (std::vector<SortKey>* keys : {&window.partition, &window.order}) {
      for (SortKey& key : *keys) {
        if (dynamic_cast<const SlotExpr*>(key.expr.get()) == nullptr) {
          const Slot slot = binder_.new_slot();
          auto in_slot = std::make_unique<SlotExpr>(key.expr->type(), key.expr->typmod(), slot,
                                                    SlotExpr::Origin{});
          computed.push_back({slot, std::exchange(key.expr, std::move(in_slot))});
        }
        wanted.push_back({copy_expression(*key.expr), key.direction, key.nulls});
      }
    }
    if (!computed.empty()) {
      const Expected input{*plan};
      plan = over(std::make_unique<Project>(std::move(plan), std::move(computed)), input);
    }
    const auto same = [](const SortKey& left, const SortKey& right) {
      return left.direction == right.direction && left.nulls == right.nulls &&
             same_expression(*left.expr, *right.expr);
    };
    const bool is_sorted =
        wanted.size() <= present.size() &&
        std::ranges::equal(wanted, std::span{present}.first(wanted.size()), same);
    if (!is_sorted) {
      present.clear();
      for (const SortKey& key : wanted) {
        present.push_back({copy_expression(*key.expr), key.direction, key.nulls});
      }
      plan = sorted(std::move(plan), std::move(wanted), kAllRows);
    }
    const Expected input{*plan};
    plan = over(std::make_unique<Window>(std::move(plan), std::move(window.partition),
                                         std::move(window.order), std::move(window.frame),
                                         std::move(window.calls)),
                input, input.rows * cost::kKeep);
  }
  return plan;
}

}  // namespace swizzle::sql
