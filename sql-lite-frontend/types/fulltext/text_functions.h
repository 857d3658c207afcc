#pragma once

#include "sql-lite-frontend/types/functions/type_functions.h"

/// The functions of text search, by the type whose object has them.
namespace swizzle::sql {

extern const FunctionsOfType kTextVectorFunctions;  ///< tsvector
extern const FunctionsOfType kTextQueryFunctions;   ///< tsquery
extern const FunctionsOfType kTextConfigFunctions;  ///< regconfig

}  // namespace swizzle::sql
