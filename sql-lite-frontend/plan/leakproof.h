#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Whether asking the condition of a row tells nothing of the row but the answer: no error, no
/// message, nothing that is kept. Such a one may be asked of rows that a policy hides, since it
/// only leaves rows out.
bool is_leakproof(Expr& condition);

}  // namespace swizzle::sql
