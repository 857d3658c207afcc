#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

/// Returns the languages c and internal, which know two sorts of names: functions of an extension
/// that the server brings, and built-in functions under other names.
const RoutineLanguage& native_language();

}  // namespace swizzle::sql
