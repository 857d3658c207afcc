#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/privileges.h"

namespace swizzle::sql {

/// Result of ALTER DEFAULT PRIVILEGES for the objects of one kind that one role will make.
///
/// Each is a record of its own in the catalog's tree, read when something is made: rarely enough
/// not to keep them in memory.
struct DefaultGrants {
  Oid oid = kNoOid;
  Oid role = kNoOid;
  /// Schema of the objects. None: all schemas; then `grants` are complete, and replace the usual
  /// ones. Those for one schema are added to them.
  Oid schema = kNoOid;
  GrantedOn kind = GrantedOn::table;
  std::vector<Grant> grants;
};

/// Returns them as the transaction sees them, by role.
std::vector<DefaultGrants> read_default_grants(Catalog& catalog, Transaction& transaction);
/// One of them, which others cannot change before the transaction ends; without grants when there
/// is none yet.
DefaultGrants lock_default_grants(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                  GrantedOn kind);
/// Pre: locked. An `oid` of none makes it.
void put_default_grants(Catalog& catalog, Transaction& transaction, DefaultGrants grants);
void remove_default_grants(Catalog& catalog, Transaction& transaction, const DefaultGrants& grants);

/// Returns the grants of a new object of `role` in `schema` (or without one); empty if they are the
/// usual ones.
std::vector<Grant> grants_of_new(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                 GrantedOn kind);

/// Returns pg_default_acl's letter, 'r' for tables.
char letter_of(GrantedOn kind) noexcept;
/// "default privileges on new relations belonging to role a in schema b"
std::string described(const CatalogView& catalog, const DefaultGrants& grants);

}  // namespace swizzle::sql
