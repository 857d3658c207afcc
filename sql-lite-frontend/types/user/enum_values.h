#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

/// Returns the labels as the session sees them, until it looks again. 42704 without such a type.
const EnumLabels& enum_labels(FunctionContext& context, TypeId type);

/// The value that a label stands for. 55P04 where the label may not be used yet.
Value enum_value(const EnumLabels& labels, const EnumLabel& label);

}  // namespace swizzle::sql
