#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// NULL, where a client says that a value of the type is: a domain may refuse it (23502, 23514).
Value null_of(FunctionContext& context, TypeId type);

}  // namespace swizzle::sql
