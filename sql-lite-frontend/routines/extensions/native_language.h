#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

/// Returns the languages c and internal: functions of included extensions, and built-in functions
/// under other names.
const RoutineLanguage& native_language();

}  // namespace swizzle::sql
