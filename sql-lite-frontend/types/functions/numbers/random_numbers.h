#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// Returns a number from 0 to `most`, each as likely, of the session's sequence.
std::uint64_t random_up_to(SessionContext& session, std::uint64_t most);

}  // namespace swizzle::sql
