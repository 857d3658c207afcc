#pragma once

#include <vector>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/query.h"

namespace swizzle::sql {

/// Puts WITH queries that are read once in the place of the reference, as subqueries of FROM, so
/// that the conditions and indexes of the reader serve them. A query stays one whose rows are kept
/// if it is AS MATERIALIZED, recursive or a write, if it calls a volatile function or locks rows,
/// or if its reader may run more often than it does. Call once, before anything is planned.
void inline_with_queries(Query& statement, std::vector<PendingSubquery>& pending);
void inline_with_queries(WriteStatement& statement, std::vector<PendingSubquery>& pending);

}  // namespace swizzle::sql
