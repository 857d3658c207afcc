#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

namespace swizzle::sql {

/// Returns the catalog changes of a transaction, read back from its records. COMMIT PREPARED needs
/// them, because the transaction was prepared by another session, perhaps before a restart. They
/// are as the transaction itself sees them. Pre: it has changed no temporary relation.
std::vector<CatalogChange> changes_of(Catalog& catalog, Transaction& transaction);

}  // namespace swizzle::sql
