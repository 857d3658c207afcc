#pragma once

#include "sql-lite-frontend/types/inverted/element_query.h"

namespace swizzle::sql {

/// Returns a necessary condition on a row's elements for `jsonb @? path` or `jsonb @@ path` to
/// hold.
ElementQuery path_element_query(ElementClass id, std::string_view op, const Value& path,
                                ElementQueries& queries);

}  // namespace swizzle::sql
