#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Rewrites (a AND b) OR (a AND c) to a, and b OR c: a condition common to all branches becomes a
/// condition of its own, which an index or a join can use. Pre: `conditions` are split at their
/// ANDs.
void take_out_common(std::vector<ExprPtr>& conditions);

/// Returns the restriction that an OR over several relations puts on the one with these slots
/// alone. If each branch restricts it, rows for which none of the branches' conditions holds need
/// not be joined. Null: none.
ExprPtr restriction_of(Expr& condition, std::span<const Slot> slots);

}  // namespace swizzle::sql
