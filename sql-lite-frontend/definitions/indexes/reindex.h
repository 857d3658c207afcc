#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// REINDEX: rebuilds indexes from the table's rows. A primary key is the table's tree itself and is
/// not rebuilt.
void reindex(StatementContext& session, const ast::ReindexStmt& statement, ResultSink& sink);

}  // namespace swizzle::sql
