#pragma once

#include <cstdint>
#include <span>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Builds a pg_snapshot: xmin, xmax, and the transactions in between that were running, ascending.
Value make_snapshot(Arena& arena, std::span<const std::uint64_t> numbers);

}  // namespace swizzle::sql
