#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/computed.h"

/// Providers of the rows of system relations, by kind of source.
namespace swizzle::sql {

/// Rows from the catalog's objects: pg_class, pg_attribute, pg_constraint …
std::span<const RowProvider> catalog_providers();
/// Rows that are built in: pg_operator, pg_cast, pg_opclass …
std::span<const RowProvider> fact_providers();
/// information_schema's tables, columns and schemata.
std::span<const RowProvider> information_schema_providers();

/// Privileges: information_schema.table_privileges and related views.
std::span<const RowProvider> privilege_providers();

/// Results of ANALYZE, and counters of tables and indexes.
std::span<const RowProvider> statistics_providers();

/// Registers the system relations. Must be called before the first use of one; repeated calls have
/// no effect.
void provide_system_relations() noexcept;
/// Adds relations whose rows are not in the catalog: sessions, locks, the engine. Must be called
/// before the first use of a system relation.
void add_row_providers(std::span<const RowProvider> providers);

/// System relations that are queries over the others.
struct SystemView {
  Oid schema;
  std::string_view name;
  /// Names of the query's columns in order, separated by blanks.
  std::string_view columns;
  std::string_view query;
};
std::span<const SystemView> system_views();
std::span<const SystemView> information_schema_views();

}  // namespace swizzle::sql
