#pragma once

#include "base/sqlstate.h"

/// Errors for requests that a transaction cannot fulfil.
namespace swizzle::sqlstate {
inline constexpr SqlState active_sql_transaction{"25001"};
inline constexpr SqlState invalid_savepoint{"3B001"};
}  // namespace swizzle::sqlstate
