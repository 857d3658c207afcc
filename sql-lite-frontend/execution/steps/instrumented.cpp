#include "sql-lite-frontend/execution/steps/instrumented.h"

#include <set>

#include "sql-lite-frontend/execution/steps/cte.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/execution/steps/subplans.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Measures one call of the node.
class Instrumented::Span {
 public:
  Span(Instrumented& of, Execution& execution) : of_(of), execution_(execution) {
    if (execution_.transaction != nullptr) leaves_ = execution_.transaction->leaf_requests();
    if (of_.clock_ == Clock::on) start_ = Runtime::current().now();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (of_.clock_ == Clock::on) {
      const Duration took = Runtime::current().now() - start_;
      of_.run_.total += took;
      if (of_.is_first_) of_.before_first_ += took;
    }
    if (execution_.transaction != nullptr) {
      of_.run_.leaves += execution_.transaction->leaf_requests() - leaves_;
    }
  }

 private:
  Instrumented& of_;
  Execution& execution_;
  std::uint64_t leaves_ = 0;
  TimePoint start_;
};

Instrumented::Instrumented(PlanPtr step, Clock clock) : step_(std::move(step)), clock_(clock) {
  expected_rows = step_->expected_rows;
  start_cost = step_->start_cost;
  cost = step_->cost;
}

PlanPtr Instrumented::copy_for_run(StepCopies& copies) const {
  return copies.copy(step_);
}

void Instrumented::open(Execution& execution) {
  ++run_.loops;
  is_first_ = true;
  before_first_ = {};
  const Span span{*this, execution};
  step_->open(execution);
}

bool Instrumented::next(Execution& execution) {
  bool found = false;
  {
    const Span span{*this, execution};
    found = step_->next(execution);
  }
  if (is_first_) run_.until_first_row += before_first_;
  is_first_ = false;
  run_.rows += found ? 1 : 0;
  return found;
}

void Instrumented::put_over(PlanPtr& root, Clock clock) {
  std::set<const void*> seen;
  const auto visit = [&](auto& self, PlanPtr& step, bool is_line_of_its_own) -> void {
    check_stack();
    visit_subplans(*step, {[&](SubqueryExpr& subquery) {
                             if (seen.insert(&subquery).second) self(self, subquery.plan(), true);
                           },
                           [&](Cte& cte) {
                             if (!cte.plan || !seen.insert(&cte).second) return;
                             self(self, cte.plan, true);
                             if (cte.recursive_plan) self(self, cte.recursive_plan, true);
                           }});
    const bool is_shown = step->is_shown();
    step->for_each_input([&](PlanPtr& input) { self(self, input, is_shown); });
    // A step that is shown with its input is measured together with it.
    if (is_line_of_its_own) step = std::make_unique<Instrumented>(std::move(step), clock);
  };
  visit(visit, root, true);
}

}  // namespace swizzle::sql
