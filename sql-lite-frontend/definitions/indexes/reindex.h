#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// REINDEX: rebuilds indexes from the table's rows. A primary key is the table's tree itself and is
/// not rebuilt.
void reindex(StatementContext& session, const ast::ReindexStmt& statement, ResultSink& sink);

/// REINDEX CONCURRENTLY: rebuilds the index of that name, or all indexes of the table, one after
/// the other, beside readers and writers. Commits on the way.
void rebuild_beside_writers(StatementContext& session, Oid table, std::string_view only,
                            ResultSink& sink);

}  // namespace swizzle::sql
