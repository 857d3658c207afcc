#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// First definitions of an empty engine. A salvage uses them in place of unreadable ones.
Role first_superuser();
DatabaseEntry first_database();
/// Returns the schemas of a new database.
std::vector<Schema> first_schemas();

/// Creates the catalog's tree in an empty engine, with the initial objects: the superuser postgres,
/// the databases postgres, template0 and template1, and the schemas pg_catalog, public and
/// information_schema.
void write_first_catalog(Engine& engine, Oid database);

/// Creates template1's schemas if it has none: in a new engine, or if a crash interrupted the first
/// start.
void complete_template(Engine& engine, Tree& tree);

void write_first_schemas(Tree& tree, Transaction& transaction, Oid database);

}  // namespace swizzle::sql
