#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/subquery.h"

/// The planner's helpers for lists of conditions and slots.
namespace swizzle::sql {

inline std::vector<Slot> with(std::span<const Slot> left, std::span<const Slot> right) {
  std::vector<Slot> all{left.begin(), left.end()};
  all.insert(all.end(), right.begin(), right.end());
  return all;
}

/// Moves out the conditions for which `wanted` returns true.
template <class Wanted>
std::vector<ExprPtr> take_if(std::vector<ExprPtr>& conditions, const Wanted& wanted) {
  std::vector<ExprPtr> taken;
  std::vector<ExprPtr> rest;
  for (ExprPtr& condition : conditions) {
    (wanted(*condition) ? taken : rest).push_back(std::move(condition));
  }
  conditions = std::move(rest);
  return taken;
}

inline void append(std::vector<ExprPtr>& to, std::vector<ExprPtr> from) {
  for (ExprPtr& expr : from) to.push_back(std::move(expr));
}

inline std::vector<Expr*> pointers(std::span<const ExprPtr> conditions) {
  std::vector<Expr*> list;
  for (const ExprPtr& condition : conditions) list.push_back(condition.get());
  return list;
}

inline bool has_subquery(Expr& expr) {
  bool found = false;
  walk(expr, [&](Expr& part) { found |= dynamic_cast<const SubqueryExpr*>(&part) != nullptr; });
  return found;
}

}  // namespace swizzle::sql
