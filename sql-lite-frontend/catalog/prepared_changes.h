#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// Returns the changes of the catalog that a transaction has made, read from its records. COMMIT
/// PREPARED needs them for a transaction that another session has prepared, perhaps before a
/// restart. Shows the transaction its own changes. Pre: it has changed no temporary relation.
std::vector<CatalogChange> changes_of(Catalog& catalog, Transaction& transaction);

}  // namespace swizzle::sql
