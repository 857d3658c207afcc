#pragma once

#include <memory>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// True if changes of the relation can be published at all: it is a table that other sessions see
/// and that survives a crash.
bool is_publishable(const Relation& relation);
/// True if a publication has the table among its own, one of its schemas, or all.
bool publishes(const Publication& publication, const Relation& relation);
/// The index that Relation::replica_identity stands for; null: none.
const Index* identity_index(const Relation& relation);

/// Returns the shape of the table with the publications that publish it; null if there are none.
std::unique_ptr<TableShape> shape_of_published(StatementServices& services, const Table& table);

/// Fails as an UPDATE or DELETE does of a table that is published so that its subscribers could not
/// tell which row was meant: 55000, 42P10. `event` is published::kUpdate or kDelete.
void require_replica_identity(StatementServices& services, const TablePtr& table,
                              const TableShape& shape, std::uint8_t event);

}  // namespace swizzle::sql
