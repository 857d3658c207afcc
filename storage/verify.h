#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace swizzle {

struct EngineParts;

/// Checks every numbered rule of one tree. Returns nothing for one that was dropped, or is being
/// loaded.
Result<std::vector<std::string>> verify_tree(EngineParts& parts, TreeId id);

/// Checks every numbered rule of every tree; each string is one violation or one page that cannot
/// be read. Others may read and write meanwhile. Without concurrent writes, also reports the pages
/// that are in use and belong to no tree: pages that were given up when a damaged tree was dropped.
Result<std::vector<std::string>> verify_all(EngineParts& parts);

}  // namespace swizzle
