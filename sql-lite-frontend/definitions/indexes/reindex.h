#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// REINDEX: makes the entries of indexes anew from the rows. A primary key is the table itself and
/// stays as it is.
void reindex(StatementContext& session, const ast::ReindexStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
