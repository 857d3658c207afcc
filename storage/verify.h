#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace swizzle {

struct EngineParts;

/// Every numbered rule of every tree, each string one violation or one page that cannot be read.
/// Where nobody has written meanwhile, also the pages that are in use and belong to no tree: what
/// was given up when a damaged tree was dropped.
Result<std::vector<std::string>> verify_all(EngineParts& parts);

}  // namespace swizzle
