#pragma once

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle {

class AnyTree;
struct EngineParts;

/// Gives up the leaf of `key`, which is whole and not as the log left it: from now on reading it
/// fails with XX001, and other pages are not affected. Returns `why`, or the reason for which the
/// leaf cannot be read anyway.
Result<> give_up_leaf(EngineParts& engine, AnyTree& tree, Bytes key, Error&& why);

}  // namespace swizzle
