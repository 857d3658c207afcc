#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// The changes of the catalog that a transaction has made, read off its records: for whoever
/// commits what another session has prepared, perhaps before a restart. Shows the transaction its
/// own changes. Pre: it has changed no temporary relation.
std::vector<CatalogChange> changes_of(Catalog& catalog, Transaction& transaction);

}  // namespace swizzle::sql
