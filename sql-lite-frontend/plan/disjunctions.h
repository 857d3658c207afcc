#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/bound/expression.h"

namespace swizzle::sql {

/// (a AND b) OR (a AND c) becomes a, and b OR c: what all branches ask is asked by itself, where an
/// index or a join can answer it. `conditions` have been taken apart at their ANDs.
void take_out_common(std::vector<ExprPtr>& conditions);

/// Returns the restriction that an OR over several relations puts on the one with these slots
/// alone. If each branch restricts it, rows for which none of the branches' conditions holds need
/// not be joined. Null: none.
ExprPtr restriction_of(Expr& condition, std::span<const Slot> slots);

}  // namespace swizzle::sql
