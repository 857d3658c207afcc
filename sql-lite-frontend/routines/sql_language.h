#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

/// Bodies that are statements of SQL; the last one's rows are the result. Each is planned once, and
/// its plan shared with other sessions, as any statement's.
const RoutineLanguage& sql_language();

}  // namespace swizzle::sql
