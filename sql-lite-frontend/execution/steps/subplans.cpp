#include "sql-lite-frontend/execution/steps/subplans.h"

#include <set>

#include "sql-lite-frontend/execution/steps/cte.h"
#include "sql-lite-frontend/execution/steps/cte_scan.h"
#include "sql-lite-frontend/execution/steps/instrumented.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {

void visit_subplans(PlanOperator& step, const SubplanVisitor& visitor) {
  if (auto* measured = dynamic_cast<Instrumented*>(&step)) {
    visit_subplans(measured->step(), visitor);
    return;
  }
  step.for_each_expression([&](ExprPtr& expr) {
    walk(*expr, [&](Expr& part) {
      auto* subquery = dynamic_cast<SubqueryExpr*>(&part);
      if (subquery != nullptr && subquery->plan()) visitor.subquery(*subquery);
    });
  });
  if (const auto* scan = dynamic_cast<const CteScan*>(&step)) visitor.with_query(scan->cte());
  if (const auto* eager = dynamic_cast<const EagerCtes*>(&step)) {
    for (const std::shared_ptr<Cte>& cte : eager->ctes()) visitor.with_query(*cte);
  }
}

namespace {

class Notes {
 public:
  void take(PlanOperator& root) { take(root, root, root); }

 private:
  /// `line`: the step that EXPLAIN shows in its place; `top`: the topmost step of its query.
  void take(PlanOperator& step, PlanOperator& line, PlanOperator& top) {
    check_stack();
    visit_subplans(step, {[&](SubqueryExpr& subquery) { note(subquery, line, top); },
                          [&](Cte& cte) { note(cte, top); }});
    step.for_each_input(
        [&](PlanPtr& input) { take(*input, step.is_shown() ? *input : line, top); });
  }
  void note(SubqueryExpr& subquery, PlanOperator& line, PlanOperator& top) {
    if (!seen_.insert(&subquery).second) return;
    const bool is_initial = subquery.is_initial();
    (is_initial ? top : line)
        .subplans.push_back({is_initial ? Subplan::Runs::once : Subplan::Runs::for_each_row,
                             subquery.name(),
                             {subquery.plan().get()}});
    take(*subquery.plan());
  }
  void note(Cte& cte, PlanOperator& top) {
    if (!cte.plan || !seen_.insert(&cte).second) return;
    Subplan subplan{Subplan::Runs::once, "CTE " + cte.name, {cte.plan.get()}};
    if (cte.recursive_plan) subplan.parts.push_back(cte.recursive_plan.get());
    top.subplans.push_back(std::move(subplan));
    take(*cte.plan);
    if (cte.recursive_plan) take(*cte.recursive_plan);
  }

  std::set<const void*> seen_;
};

}  // namespace

void note_subplans(PlanOperator& root) {
  Notes{}.take(root);
}

}  // namespace swizzle::sql
