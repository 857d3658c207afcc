#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// The rows of a table as the source of an index's entries.
namespace swizzle::sql {

/// Tools for writing rows outside a statement: rules bound over a table, and an execution.
struct Writing {
  Writing(StatementContext& session, const TablePtr& table);
  std::unique_ptr<Scratch> scratch;
  std::unique_ptr<WriteStatement> write;
};

/// Places of columns; empty: all of them.
using ColumnPlaces = std::vector<std::size_t>;

/// Returns the columns of an index's entries, which must be decoded from rows.
ColumnPlaces places_of(const Table& table, std::size_t index, const WriteStatement& write);
/// Decodes the columns at `places`.
void read_columns(const RowReader& reader, const ColumnPlaces& places, std::span<Value> row);

/// Throws 23505: the rows of a table repeat a key of the index. `key` is "(a)=(1)", or empty if the
/// user may not see it.
[[noreturn]] void fail_not_unique(StatementContext& session, const Table& table, const Index& index,
                                  std::string_view key);

}  // namespace swizzle::sql
