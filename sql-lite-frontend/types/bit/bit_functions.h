#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/functions/type_functions.h"

namespace swizzle::sql {

int compare_bits(const Value& a, const Value& b);

extern const FunctionsOfType kBitFunctions;
extern const FunctionsOfType kVarbitFunctions;

}  // namespace swizzle::sql
