#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Returns NULL as a value of the type; throws 23502 or 23514 if it is a domain that does not allow
/// NULL.
Value null_of(FunctionContext& context, TypeId type);

}  // namespace swizzle::sql
