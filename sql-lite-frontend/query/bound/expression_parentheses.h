#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Returns true if the pretty form writes parentheses around an operand of `parent`.
bool needs_parentheses(const Expr& operand, const Expr& parent);

}  // namespace swizzle::sql
