#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Makes the expression; returns a single operand unchanged, unless it is negated.
inline ExprPtr boolean(BooleanExpr::Kind kind, std::vector<ExprPtr> operands) {
  if (operands.size() == 1 && kind != BooleanExpr::Kind::negation) return std::move(operands[0]);
  return std::make_unique<BooleanExpr>(kind, std::move(operands));
}

inline ExprPtr negated(ExprPtr expr) {
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(expr));
  return boolean(BooleanExpr::Kind::negation, std::move(operands));
}

inline std::vector<ExprPtr> list_of(ExprPtr first, ExprPtr second) {
  std::vector<ExprPtr> list;
  list.push_back(std::move(first));
  list.push_back(std::move(second));
  return list;
}

}  // namespace swizzle::sql
