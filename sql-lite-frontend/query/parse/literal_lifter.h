#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// A statement whose literals have become parameters: statements that differ only in literals share
/// one shape, and so one plan.
struct LiftedText {
  struct Literal {
    TypeId type;       ///< int4, int8, or unknown for a string
    std::string text;  ///< without quotes
  };
  std::string shape;
  std::vector<Literal> literals;
};

/// Lifts the literals of a plain SELECT, INSERT, UPDATE or DELETE. Nothing when there are none, or
/// if a literal may mean more than its value: comments, several statements, escapes and dollar
/// quotes, positions in ORDER BY and GROUP BY, type modifiers, typed literals (DATE '…').
std::optional<LiftedText> lift_literals(std::string_view text);

}  // namespace swizzle::sql
