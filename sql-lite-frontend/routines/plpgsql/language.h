#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql {

const RoutineLanguage& plpgsql_language();

}  // namespace swizzle::sql
