#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/privileges.h"

namespace swizzle::sql {

/// Default privileges (ALTER DEFAULT PRIVILEGES) of one role for future objects of one kind.
///
/// Each is a record of its own in the catalog's tree. It is read when an object is created, which
/// is too rare to keep it in memory.
struct DefaultGrants {
  Oid oid = kNoOid;
  Oid role = kNoOid;
  /// Schema of the objects; none: all schemas. Without a schema the grants replace the built-in
  /// defaults; with one they are added to them.
  Oid schema = kNoOid;
  GrantedOn kind = GrantedOn::table;
  std::vector<Grant> grants;
};

/// Returns all default privileges visible to the transaction, ordered by role.
std::vector<DefaultGrants> read_default_grants(Catalog& catalog, Transaction& transaction);
/// Locks default privileges until the end of the transaction and returns them; without grants if
/// there are none yet.
DefaultGrants lock_default_grants(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                  GrantedOn kind);
/// Stores default privileges. An `oid` of none creates them. Pre: locked.
void put_default_grants(Catalog& catalog, Transaction& transaction, DefaultGrants grants);
void remove_default_grants(Catalog& catalog, Transaction& transaction, const DefaultGrants& grants);

/// Returns the grants of an object that `role` creates in `schema` (or without one); empty if they
/// are the built-in defaults.
std::vector<Grant> grants_of_new(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                 GrantedOn kind);

/// Returns the letter of pg_default_acl.defaclobjtype, such as 'r' for tables.
char letter_of(GrantedOn kind) noexcept;
/// Returns the description for messages: "default privileges on new relations belonging to role a
/// in schema b".
std::string described(const CatalogView& catalog, const DefaultGrants& grants);

}  // namespace swizzle::sql
