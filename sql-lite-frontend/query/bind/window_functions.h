#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "sql-lite-frontend/query/bound/query_parts.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

/// The executor's kind for each pure window function. Their types are in the table of all
/// functions.
inline constexpr std::array kWindowFunctions =
    std::to_array<std::pair<std::string_view, WindowFunctionKind>>({
        {"row_number", WindowFunctionKind::row_number},
        {"rank", WindowFunctionKind::rank},
        {"dense_rank", WindowFunctionKind::dense_rank},
        {"percent_rank", WindowFunctionKind::percent_rank},
        {"cume_dist", WindowFunctionKind::cume_dist},
        {"ntile", WindowFunctionKind::ntile},
        {"lag", WindowFunctionKind::lag},
        {"lead", WindowFunctionKind::lead},
        {"first_value", WindowFunctionKind::first_value},
        {"last_value", WindowFunctionKind::last_value},
        {"nth_value", WindowFunctionKind::nth_value},
    });

/// Returns true for window functions that, with arguments, are also aggregates used WITHIN GROUP.
constexpr bool is_hypothetical_set(std::string_view name) noexcept {
  return name == "rank" || name == "dense_rank" || name == "percent_rank" || name == "cume_dist";
}

/// Pre: it is the name of a window function.
inline WindowFunctionKind window_kind(std::string_view name) {
  for (const auto& [known, kind] : kWindowFunctions) {
    if (known == name) return kind;
  }
  STATEMENT_INVARIANT(false);
  std::unreachable();
}

}  // namespace swizzle::sql
