#include "sql-lite-frontend/query/bound/subquery.h"

#include <fmt/format.h>

#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

Value SubqueryExpr::evaluate(Execution& execution) const {
  STATEMENT_INVARIANT(run_ != nullptr);
  return (this->*run_)(execution);
}

bool SubqueryExpr::uses_hash() const noexcept {
  return correlation_ == Correlation::none && kind_ == Kind::any && !hash_left_.empty();
}

bool SubqueryExpr::is_read_again() const noexcept {
  const bool compares = kind_ == Kind::any || kind_ == Kind::all || kind_ == Kind::row;
  return compares && correlation_ == Correlation::none && !(uses_hash() && hash_left_.size() == 1);
}

bool SubqueryExpr::is_initial() const noexcept {
  const bool compares = kind_ == Kind::any || kind_ == Kind::all || kind_ == Kind::row;
  return !compares && correlation_ == Correlation::none && further_.empty();
}

std::string SubqueryExpr::name() const {
  return is_initial() ? fmt::format("InitPlan {} (returns ${})", number_, number_ - 1)
                      : fmt::format("SubPlan {}", number_);
}

void SubqueryExpr::set_comparison(ExprPtr comparison, std::vector<ExprPtr> hash_left) {
  comparison_ = std::move(comparison);
  hash_left_ = std::move(hash_left);
}

void SubqueryExpr::for_each_operand(const std::function<void(ExprPtr&)>& visit) {
  if (comparison_) visit(comparison_);
  for (ExprPtr& expr : hash_left_) visit(expr);
}

void SubqueryExpr::print(ExprPrinter& printer) const {
  if (printer.columns == ExprPrinter::Columns::slots) {
    printer.out += signature_.empty() ? fmt::format("(SubPlan {})", fmt::ptr(this))
                                      : "(SubPlan " + signature_ + ")";
    return;
  }
  if (printer.texts != nullptr) return printer.texts->print_subquery(printer, *this);
  if (is_initial()) {
    printer.out += fmt::format("${}", number_ - 1);
  } else {
    printer.out += fmt::format("({}SubPlan {})", uses_hash() ? "hashed " : "", number_);
  }
}

}  // namespace swizzle::sql
