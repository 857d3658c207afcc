#pragma once

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle {

class AnyTree;
struct EngineParts;

/// Gives up the leaf of `key`, which is whole but not as the log left it. From now on reading the
/// leaf fails with XX001; other pages are not affected. Returns `why`, or the error for which the
/// leaf cannot be read anyway.
Result<> give_up_leaf(EngineParts& engine, AnyTree& tree, Bytes key, Error&& why);

}  // namespace swizzle
