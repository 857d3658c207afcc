#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Comparisons of types of extensions, for uses that need a type's own operators: DISTINCT FROM,
/// IN, ANY, stored expressions. They have no oids; the operators that a statement names are the
/// extension's, in its schema.
std::span<const Operator> extension_operators();
/// Returns the built-in operators with that name, without the above.
std::vector<const Operator*> operators_not_of_extensions(std::string_view name);

}  // namespace swizzle::sql
