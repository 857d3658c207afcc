#pragma once

#include <cstdint>
#include <span>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// A value of pg_snapshot: xmin, xmax, and those between that had not ended, in order.
Value make_snapshot(Arena& arena, std::span<const std::uint64_t> numbers);

}  // namespace swizzle::sql
