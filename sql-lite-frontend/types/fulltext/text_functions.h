#pragma once

#include "sql-lite-frontend/types/functions/type_functions.h"

/// Text search functions, grouped by the type whose object lists them.
namespace swizzle::sql {

extern const FunctionsOfType kTextVectorFunctions;  ///< tsvector
extern const FunctionsOfType kTextQueryFunctions;   ///< tsquery
extern const FunctionsOfType kTextConfigFunctions;  ///< regconfig

}  // namespace swizzle::sql
