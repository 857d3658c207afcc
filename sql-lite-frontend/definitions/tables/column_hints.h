#pragma once

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// SET STATISTICS, SET (n_distinct = …) and SET STORAGE of a column. They are checked, kept, shown
/// in pg_attribute and dumped, and have no effect: ANALYZE chooses its sample by itself, and large
/// values leave the row by their size.
namespace swizzle::sql {

/// Applies one of these actions of ALTER TABLE to the column.
void set_column_hint(StatementContext& session, const ast::AlterTableCmd& action, Column& column,
                     ResultSink& sink);
/// Applies ALTER INDEX … ALTER COLUMN … SET STATISTICS, which only an expression may have.
void set_index_statistics(StatementContext& session, const ast::AlterTableCmd& action,
                          const Table& table, Index& index, ResultSink& sink);
/// Returns the letter of pg_attribute.attstorage for STORAGE and a word; 0 for DEFAULT and for the
/// type's own. Throws 22023 for other words, 0A000 if the type has only PLAIN.
char storage_letter(std::string_view word, TypeId type);

}  // namespace swizzle::sql
