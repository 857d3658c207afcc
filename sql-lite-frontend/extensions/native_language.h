#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

/// LANGUAGE c and internal, as far as there is something of the name: what an extension of ours
/// brings, and built-in functions under other names.
const RoutineLanguage& native_language();

}  // namespace swizzle::sql
