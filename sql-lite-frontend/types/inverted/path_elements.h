#pragma once

#include "sql-lite-frontend/types/inverted/element_query.h"

namespace swizzle::sql {

/// What rows must have for which `jsonb @? path` or `jsonb @@ path` may hold.
ElementQuery path_element_query(ElementClass id, std::string_view op, const Value& path,
                                ElementQueries& queries);

}  // namespace swizzle::sql
