#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/computed.h"

/// Providers of the rows of system relations, by kind of source.
namespace swizzle::sql {

/// Rows from the catalog's objects: pg_class, pg_attribute, pg_constraint …
std::span<const RowProvider> catalog_providers();
/// Rows that the server knows without a catalog: pg_operator, pg_cast, pg_opclass …
std::span<const RowProvider> fact_providers();
/// information_schema's tables, columns and schemata.
std::span<const RowProvider> information_schema_providers();

/// Privileges: information_schema.table_privileges and its like.
std::span<const RowProvider> privilege_providers();

/// Results of ANALYZE, and counters of tables and indexes.
std::span<const RowProvider> statistics_providers();

/// Lets the catalog know the system relations. Before the first look at one; again is harmless.
void provide_system_relations() noexcept;
/// Adds relations whose rows lie outside the catalog: sessions, locks, the engine. Before the first
/// look at a system relation.
void add_row_providers(std::span<const RowProvider> providers);

/// System relations that are queries over the others.
struct SystemView {
  Oid schema;
  std::string_view name;
  /// The columns that the query has, separated by blanks, in its order.
  std::string_view columns;
  std::string_view query;
};
std::span<const SystemView> system_views();
std::span<const SystemView> information_schema_views();

}  // namespace swizzle::sql
