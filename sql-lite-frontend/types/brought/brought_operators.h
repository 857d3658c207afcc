#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Comparisons of types that come with an extension, for uses that look for a type's own: DISTINCT
/// FROM, IN, ANY, expressions as they are stored. They have no numbers; the operators that a
/// statement names are the extension's, in its schema.
std::span<const Operator> brought_operators();
/// The built-in ones of the name, without those.
std::vector<const Operator*> operators_not_brought(std::string_view name);

}  // namespace swizzle::sql
