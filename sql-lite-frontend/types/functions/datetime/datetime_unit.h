#pragma once

#include <string_view>

#include "sql-lite-frontend/types/datetime/datetime_unit.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Ignores case; returns unknown if there is no such unit.
DateTimeUnit find_datetime_unit(std::string_view spelled);

/// Throws: the type does not support the unit, or there is no unit with that name.
[[noreturn]] void refuse_datetime_unit(std::string_view name, DateTimeUnit unit, TypeId type);

}  // namespace swizzle::sql
