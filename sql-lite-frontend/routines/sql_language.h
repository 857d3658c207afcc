#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

/// The language SQL: a body is a list of statements, and the last one's rows are the result. Each
/// is planned once; its plan is shared with other sessions like that of any statement.
const RoutineLanguage& sql_language();

}  // namespace swizzle::sql
