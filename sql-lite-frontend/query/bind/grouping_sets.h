#pragma once

#include <cstdint>
#include <functional>

#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/parse/ast.h"

namespace swizzle::sql {

/// Returns the place of an expression of GROUP BY among the keys.
using PlaceOfKey = std::function<std::uint32_t(const ast::Node*)>;

/// Binds an item of GROUP BY: a key, several in parentheses, or sets of them.
GroupingItem grouping_item(const ast::Node* node, const PlaceOfKey& place_of);
/// Finds out what a call of GROUPING() is in each set. Throws SqlError 42803 for an argument that
/// is no key.
void settle_grouping_call(Query& query, const GroupingCall& call);

}  // namespace swizzle::sql
