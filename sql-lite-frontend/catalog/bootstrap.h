#pragma once

#include "sql-lite-frontend/catalog/objects.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Makes the catalog's tree in an empty engine, with what every database starts with: the
/// superuser, called postgres, the databases postgres, template0 and template1, and the schemas
/// pg_catalog, public and information_schema.
void write_first_catalog(Engine& engine, Oid database);

/// Gives template1 its schemas if it has none: in a new engine, and in one that its first server
/// left without.
void complete_template(Engine& engine, Tree& tree);

/// The schemas that a new database starts with.
void write_first_schemas(Tree& tree, Transaction& transaction, Oid database);

}  // namespace swizzle::sql
