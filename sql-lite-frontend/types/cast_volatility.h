#pragma once

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Returns the volatility of a cast: stable where its function, or the text form that it goes
/// through, depends on settings (TimeZone, DateStyle, lc_monetary) or on the catalog, as
/// PostgreSQL's input and output functions are marked.
Volatility cast_volatility(const Cast& cast);

}  // namespace swizzle::sql
