#pragma once

#include <string_view>

#include "sql-lite-frontend/types/datetime/datetime_unit.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Letters of either case; unknown if it is none.
DateTimeUnit find_datetime_unit(std::string_view spelled);

/// Throws: the type has no such unit, or there is none of that name.
[[noreturn]] void refuse_datetime_unit(std::string_view name, DateTimeUnit unit, TypeId type);

}  // namespace swizzle::sql
