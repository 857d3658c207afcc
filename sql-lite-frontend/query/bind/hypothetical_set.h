#pragma once

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// Returns rank(), dense_rank(), percent_rank() or cume_dist() WITHIN GROUP in terms of count()
/// with FILTER: how many rows sort before the hypothetical one, out of how many. The nodes lie in
/// the arena. Pre: there are as many direct arguments as sorted expressions.
const ast::Node* counted_hypothetical_set(Arena& arena, const ast::FuncCall& call);

}  // namespace swizzle::sql
