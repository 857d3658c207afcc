#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/body_names.h"

/// Bodies of routines in SQL.
namespace swizzle::sql {

/// One statement of a body.
struct BodyPart {
  std::string text;
  std::size_t offset = 0;  ///< in the body; 0 if the text is not a part of it verbatim
};
/// Throws syntax errors, with the position in the body.
std::vector<BodyPart> body_parts(const Routine& routine);

/// Returns the names that the body's statements can use.
BodyNames body_names(const RoutinePtr& routine);

/// Returns RETURN … or BEGIN ATOMIC … END from the end of CREATE FUNCTION.
std::string atomic_body_text(std::string_view statement);

}  // namespace swizzle::sql
