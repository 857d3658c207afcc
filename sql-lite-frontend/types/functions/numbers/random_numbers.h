#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// Returns a uniformly distributed number from 0 to `most`, from the session's sequence.
std::uint64_t random_up_to(SessionContext& session, std::uint64_t most);

}  // namespace swizzle::sql
