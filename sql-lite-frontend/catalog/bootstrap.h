#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Definitions of an empty engine, which a salvage takes where they cannot be read.
Role first_superuser();
DatabaseEntry first_database();
/// The schemas that a new database starts with.
std::vector<Schema> first_schemas();

/// Makes the catalog's tree in an empty engine, with what every database starts with: the
/// superuser, called postgres, the databases postgres, template0 and template1, and the schemas
/// pg_catalog, public and information_schema.
void write_first_catalog(Engine& engine, Oid database);

/// Gives template1 its schemas if it has none: in a new engine, and in one that its first server
/// left without.
void complete_template(Engine& engine, Tree& tree);

void write_first_schemas(Tree& tree, Transaction& transaction, Oid database);

}  // namespace swizzle::sql
