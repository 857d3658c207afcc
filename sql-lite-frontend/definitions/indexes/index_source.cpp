#include "sql-lite-frontend/definitions/indexes/index_source.h"

#include <fmt/format.h>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

Writing::Writing(StatementContext& session, const TablePtr& table)
    : scratch(session.new_scratch()) {
  Binder binder{session.names, scratch->arena};
  std::vector<Slot> slots;
  write = binder.bind_row_source(table, {}, slots);
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = session.transaction.get();
  scratch->execution.run = session.new_run();
}

ColumnPlaces places_of(const Table& table, std::size_t index, const WriteStatement& write) {
  if (write.has_index_expressions()) return {};
  ColumnPlaces places;
  for (const IndexColumn& column : table.relation.indexes[index].columns) {
    places.push_back(static_cast<std::size_t>(column.column - 1));
  }
  return places;
}

void read_columns(const RowReader& reader, const ColumnPlaces& places, std::span<Value> row) {
  if (places.empty()) return reader.columns(row);
  for (const std::size_t place : places) row[place] = reader.column(place);
}

void fail_not_unique(StatementContext& session, const Table& table, const Index& index,
                     std::string_view key) {
  std::string detail =
      key.empty() ? "Duplicate keys exist." : fmt::format("Key {} is duplicated.", key);
  SqlError error =
      sql_error(sqlstate::unique_violation, "could not create unique index \"{}\"", index.name)
          .with_detail(std::move(detail));
  error.fields().schema = session.names.schema_name(table.relation.schema);
  error.fields().table = table.relation.name;
  error.fields().constraint = index.name;
  throw error;
}

}  // namespace swizzle::sql
