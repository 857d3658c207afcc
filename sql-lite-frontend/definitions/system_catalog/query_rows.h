#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// The words in which a text that is not one query is refused.
enum class RefusedQuery : std::uint8_t {
  as_cursor,  ///< 42P11: it cannot be opened
  as_data,    ///< 22000: it is invalid
};

/// Runs a query that a function got as a text, with the caller's rights and without a right to
/// write. `check` gets the result's columns first, `visit` each row, whose values live until it
/// returns.
void for_each_row_of(StatementContext& session, std::string_view text, RefusedQuery refused,
                     const std::function<void(std::span<const OutputTarget>)>& check,
                     const std::function<void(std::span<const Value>)>& visit);

}  // namespace swizzle::sql
