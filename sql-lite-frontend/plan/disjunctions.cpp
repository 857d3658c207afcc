#include "sql-lite-frontend/plan/disjunctions.h"

#include <algorithm>

#include "sql-lite-frontend/plan/condition_lists.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"

namespace swizzle::sql {
namespace {

using Branch = std::vector<ExprPtr>;

/// Returns an OR whose parts may be moved and repeated; else null.
BooleanExpr* as_disjunction(Expr& condition) {
  auto* boolean = dynamic_cast<BooleanExpr*>(&condition);
  const bool is_one = boolean != nullptr && boolean->kind() == BooleanExpr::Kind::disjunction;
  return is_one && !is_volatile(condition) && !has_subquery(condition) ? boolean : nullptr;
}

ExprPtr all_of(Branch parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<BooleanExpr>(BooleanExpr::Kind::conjunction, std::move(parts));
}

/// Conditions of the first branch that every other has too; they are taken out of all.
Branch take_common(std::vector<Branch>& branches) {
  return take_if(branches.front(), [&](Expr& wanted) {
    const auto is_wanted = [&](const ExprPtr& part) { return same_expression(*part, wanted); };
    const std::span others = std::span{branches}.subspan(1);
    const bool is_common = std::ranges::all_of(
        others, [&](const Branch& other) { return std::ranges::any_of(other, is_wanted); });
    if (!is_common) return false;
    for (Branch& other : others) std::erase_if(other, is_wanted);
    return true;
  });
}

}  // namespace

void take_out_common(std::vector<ExprPtr>& conditions) {
  std::vector<ExprPtr> out;
  for (ExprPtr& condition : conditions) {
    BooleanExpr* const either = as_disjunction(*condition);
    if (either == nullptr) {
      out.push_back(std::move(condition));
      continue;
    }
    std::vector<Branch> branches;
    for (ExprPtr& operand : either->mutable_operands()) {
      Branch& branch = branches.emplace_back();
      branch.push_back(std::move(operand));
      split_conjunctions(branch);
    }
    // First, because they preceded the rest in every branch whose order matters.
    append(out, take_common(branches));
    // A branch without other conditions makes the OR true.
    if (std::ranges::any_of(branches, &Branch::empty)) continue;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      either->mutable_operands()[i] = all_of(std::move(branches[i]));
    }
    out.push_back(std::move(condition));
  }
  conditions = std::move(out);
}

ExprPtr restriction_of(Expr& condition, std::span<const Slot> slots) {
  BooleanExpr* const either = as_disjunction(condition);
  if (either == nullptr) return nullptr;
  const auto is_own = [&](Slot slot) { return std::ranges::find(slots, slot) != slots.end(); };
  std::vector<ExprPtr> branches;
  for (ExprPtr& operand : either->mutable_operands()) {
    auto* both = dynamic_cast<BooleanExpr*>(operand.get());
    const bool is_conjunction = both != nullptr && both->kind() == BooleanExpr::Kind::conjunction;
    Branch asked;
    for (ExprPtr& part :
         is_conjunction ? std::span{both->mutable_operands()} : std::span{&operand, 1}) {
      const std::vector<Slot> read = slots_read(*part);
      if (read.empty() || !std::ranges::all_of(read, is_own)) continue;
      ExprPtr copy = copy_expression(*part);
      if (copy) asked.push_back(std::move(copy));
    }
    if (asked.empty()) return nullptr;
    branches.push_back(all_of(std::move(asked)));
  }
  return std::make_unique<BooleanExpr>(BooleanExpr::Kind::disjunction, std::move(branches));
}

}  // namespace swizzle::sql
