#pragma once

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

/// Returns the labels visible to the session, valid until the next look-up. Throws 42704 if there
/// is no such type.
const EnumLabels& enum_labels(FunctionContext& context, TypeId type);

/// Returns the value of a label. Throws 55P04 if the label may not be used yet.
Value enum_value(const EnumLabels& labels, const EnumLabel& label);

}  // namespace swizzle::sql
