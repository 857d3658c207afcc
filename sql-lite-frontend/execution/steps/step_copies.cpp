#include "sql-lite-frontend/execution/steps/step_copies.h"

#include <algorithm>

#include "sql-lite-frontend/execution/steps/cte.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

Execution::~Execution() = default;

PlanPtr StepCopies::copy(const PlanPtr& step) {
  if (!step) return nullptr;
  check_stack();
  PlanPtr copy = step->copy_for_run(*this);
  made_.emplace_back(step.get(), copy.get());
  return copy;
}

PlanOperator* StepCopies::find(const PlanOperator* step) const {
  if (step == nullptr) return nullptr;
  const auto found = std::ranges::find(made_, step, [](const auto& made) { return made.first; });
  STATEMENT_INVARIANT(found != made_.end());
  return found->second;
}

std::shared_ptr<Cte> StepCopies::copy_of(const std::shared_ptr<Cte>& cte) {
  // A pointer that does not own: the execution owns the CTE, whose steps may themselves refer to
  // it.
  const auto shared = [](Cte* of) { return std::shared_ptr<Cte>{std::shared_ptr<void>{}, of}; };
  const auto known = std::ranges::find(execution_.ctes, cte.get(), &Execution::CteOfRun::planned);
  if (known != execution_.ctes.end()) return shared(known->own.get());
  check_stack();
  execution_.ctes.push_back({cte.get(), std::make_shared<Cte>()});
  Cte& own = *execution_.ctes.back().own;
  own.become_copy(*cte, *this);
  return shared(&own);
}

std::vector<std::shared_ptr<Cte>> StepCopies::copy_of(
    const std::vector<std::shared_ptr<Cte>>& ctes) {
  std::vector<std::shared_ptr<Cte>> copies;
  for (const std::shared_ptr<Cte>& cte : ctes) copies.push_back(copy_of(cte));
  return copies;
}

}  // namespace swizzle::sql
