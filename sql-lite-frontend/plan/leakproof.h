#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// True if evaluating the condition reveals nothing of a row but its result: no error, no message,
/// no side effect. It may then be evaluated on rows that a policy hides.
bool is_leakproof(Expr& condition);

}  // namespace swizzle::sql
