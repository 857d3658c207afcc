#pragma once

#include "sql-lite-frontend/types/inverted/element_query.h"

namespace swizzle::sql {

/// Returns a query on a row's elements that is necessary for `jsonb @? path` or `jsonb @@ path`.
ElementQuery path_element_query(ElementClass id, std::string_view op, const Value& path,
                                ElementQueries& queries);

}  // namespace swizzle::sql
