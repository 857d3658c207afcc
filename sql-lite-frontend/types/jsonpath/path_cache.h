#pragma once

#include <memory>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/jsonpath/path_tree.h"

namespace swizzle::sql {

/// Parses a jsonpath value, which is stored as text. Cached per thread, because a query uses the
/// same paths for every row.
std::shared_ptr<const PathTree> path_tree(const Value& path, MemoryAccount* account);

}  // namespace swizzle::sql
