#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/bound/expression.h"

namespace swizzle::sql {

/// (a AND b) OR (a AND c) becomes a, and b OR c: what all branches ask is asked by itself, where an
/// index or a join can answer it. `conditions` have been taken apart at their ANDs.
void take_out_common(std::vector<ExprPtr>& conditions);

/// What an OR that reads several relations asks of the one with these slots alone: if each branch
/// asks something of it, rows for which none of that holds need not be joined. Null: nothing.
ExprPtr restriction_of(Expr& condition, std::span<const Slot> slots);

}  // namespace swizzle::sql
