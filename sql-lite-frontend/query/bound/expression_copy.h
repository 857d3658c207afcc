#pragma once

#include <functional>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Returns the replacement of a slot in a copy; null: the slot itself.
using SlotReplacement = std::function<ExprPtr(const SlotExpr&)>;

/// Returns a copy with slots replaced, or null for an expression that cannot be copied, such as a
/// subquery.
ExprPtr copy_expression(const Expr& expr, const SlotReplacement& replace = {});

}  // namespace swizzle::sql
