#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

inline std::vector<TypeId> types_of(std::span<const ExprPtr> exprs) {
  std::vector<TypeId> types;
  for (const ExprPtr& expr : exprs) types.push_back(expr->type());
  return types;
}

}  // namespace swizzle::sql
