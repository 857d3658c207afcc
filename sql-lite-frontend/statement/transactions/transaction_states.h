#pragma once

#include "base/sqlstate.h"

/// SQLSTATEs of requests that the transaction's state forbids.
namespace swizzle::sqlstate {
inline constexpr SqlState active_sql_transaction{"25001"};
inline constexpr SqlState invalid_savepoint{"3B001"};
}  // namespace swizzle::sqlstate
