#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// True if changes of the relation can be published at all: it is a table that other sessions see
/// and that survives a crash.
bool is_publishable(const Relation& relation);
/// True if a publication contains the table: listed itself, by its schema, or by FOR ALL TABLES.
bool publishes(const Publication& publication, const Relation& relation);
/// Returns the table, and then the partitioned tables that it is a part of, the nearest first.
std::vector<TablePtr> lineage_of(CatalogView& catalog, const Table& table);
inline constexpr std::size_t kNotPublished = SIZE_MAX;
/// Returns the position in the lineage of the table as which the publication publishes changes of
/// the first one: itself, or its topmost published ancestor with publish_via_partition_root.
std::size_t published_level(const Publication& publication, std::span<const TablePtr> lineage);
/// True if the publication publishes a column of one of its tables. `member`: the table's entry, if
/// it is listed itself.
bool publishes_column(const Publication& publication, const Publication::Member* member,
                      const Column& column, std::int16_t number);
/// Returns the index that is the table's replica identity; null if there is none.
const Index* identity_index(const Relation& relation);

/// Returns the shape of the table with the publications that publish it; null if there are none.
std::unique_ptr<TableShape> shape_of_published(StatementServices& services, const Table& table);

/// Throws the error of an UPDATE or DELETE on a published table: 55000 if it has no replica
/// identity, 42P10 if the WHERE or the column list of a publication does not fit its replica
/// identity. `event` is published::kUpdate or kDelete.
void require_replica_identity(StatementServices& services, const TablePtr& table,
                              const TableShape& shape, std::uint8_t event);

}  // namespace swizzle::sql
