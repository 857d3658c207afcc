#pragma once

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Returns the volatility of a cast: stable if its function, or the text conversion that it uses,
/// depends on settings (TimeZone, DateStyle, lc_monetary) or on the catalog, as for PostgreSQL's
/// input and output functions.
Volatility cast_volatility(const Cast& cast);

}  // namespace swizzle::sql
