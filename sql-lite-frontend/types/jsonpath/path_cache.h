#pragma once

#include <memory>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/jsonpath/path_tree.h"

namespace swizzle::sql {

/// The tree of a jsonpath value, which is the path's text: the same few paths are asked for row
/// after row, so a thread remembers the last ones.
std::shared_ptr<const PathTree> path_tree(const Value& path, MemoryAccount* account);

}  // namespace swizzle::sql
