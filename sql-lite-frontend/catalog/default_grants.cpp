#include "sql-lite-frontend/catalog/default_grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string key_of(Oid database, Oid role, Oid schema, GrantedOn kind) {
  std::string key = object_key(database, RecordKind::default_grants, role);
  append_oid(key, schema);
  key += letter_of(kind);
  return key;
}

/// PostgreSQL shows default grants in this order; elsewhere grants are shown as they were made.
void sort_by_grantee(std::vector<Grant>& grants) {
  std::ranges::sort(grants, {},
                    [](const Grant& grant) { return std::pair{grant.grantee, grant.grantor}; });
}

}  // namespace

char letter_of(GrantedOn kind) noexcept {
  switch (kind) {
    case GrantedOn::sequence:
      return 'S';
    case GrantedOn::schema:
      return 'n';
    case GrantedOn::function:
      return 'f';
    case GrantedOn::type:
      return 'T';
    case GrantedOn::large_object:
      return 'L';
    case GrantedOn::table:
    case GrantedOn::column:
    case GrantedOn::database:
      break;
  }
  return 'r';
}

std::string described(const CatalogView& catalog, const DefaultGrants& grants) {
  const RolePtr role = catalog.role(grants.role);
  std::string text = fmt::format("default privileges on new {} belonging to role {}",
                                 grants.kind == GrantedOn::sequence       ? "sequences"
                                 : grants.kind == GrantedOn::schema       ? "schemas"
                                 : grants.kind == GrantedOn::function     ? "functions"
                                 : grants.kind == GrantedOn::type         ? "types"
                                 : grants.kind == GrantedOn::large_object ? "large objects"
                                                                          : "relations",
                                 role ? role->name : std::to_string(grants.role));
  if (const SchemaPtr schema = catalog.schema(grants.schema)) text += " in schema " + schema->name;
  return text;
}

std::vector<DefaultGrants> read_default_grants(Catalog& catalog, Transaction& transaction) {
  const std::string low = kind_prefix(catalog.database(), RecordKind::default_grants);
  const std::string high = key_successor(low);
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  std::vector<DefaultGrants> found;
  Cursor cursor = value_of(catalog.tree().scan(transaction, range));
  while (value_of(cursor.next())) found.push_back(decode<DefaultGrants>(cursor.value()));
  return found;
}

DefaultGrants lock_default_grants(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                  GrantedOn kind) {
  const std::string key = key_of(catalog.database(), role, schema, kind);
  ValueBuffer buffer;
  if (value_of(catalog.tree().get(transaction, as_bytes(key), buffer, ReadMode::for_update))) {
    return decode<DefaultGrants>(buffer.bytes());
  }
  return {.role = role, .schema = schema, .kind = kind, .grants = {}};
}

void put_default_grants(Catalog& catalog, Transaction& transaction, DefaultGrants grants) {
  const std::string key = key_of(catalog.database(), grants.role, grants.schema, grants.kind);
  const bool is_new = grants.oid == kNoOid;
  if (is_new) grants.oid = catalog.shared_objects().allocate_oid();
  sort_by_grantee(grants.grants);
  const std::string record = encode(grants);
  Tree tree = catalog.tree();
  const bool done = is_new ? value_of(tree.insert(transaction, as_bytes(key), as_bytes(record)))
                           : value_of(tree.update(transaction, as_bytes(key), as_bytes(record)));
  if (!done) {
    // Two that make the same at once; PostgreSQL answers so, too.
    throw SqlError{SqlState{"XX000"}, "tuple concurrently updated"};
  }
}

void remove_default_grants(Catalog& catalog, Transaction& transaction,
                           const DefaultGrants& grants) {
  const std::string key = key_of(catalog.database(), grants.role, grants.schema, grants.kind);
  value_of(catalog.tree().remove(transaction, as_bytes(key)));
}

std::vector<Grant> grants_of_new(Catalog& catalog, Transaction& transaction, Oid role, Oid schema,
                                 GrantedOn kind) {
  std::vector<Grant> everywhere;
  std::vector<Grant> here;
  for (DefaultGrants& grants : read_default_grants(catalog, transaction)) {
    if (grants.role != role || grants.kind != kind) continue;
    if (grants.schema == kNoOid) {
      everywhere = std::move(grants.grants);
    } else if (grants.schema == schema) {
      here = std::move(grants.grants);
    }
  }
  if (everywhere.empty() && here.empty()) return {};
  AccessList list{everywhere, role, kind, everyone_on(kind)};
  const AccessList more = AccessList::exactly(here, role);
  for (const AccessList::Entry& entry : more.entries()) {
    list.grant(entry.grantee, entry.grantor, entry.privileges, AccessList::GrantOption::without);
    list.grant(entry.grantee, entry.grantor, entry.options, AccessList::GrantOption::with);
  }
  // If every right is revoked, PostgreSQL grants the usual ones after all.
  const bool is_nothing = std::ranges::all_of(
      list.entries(), [](const AccessList::Entry& entry) { return entry.privileges == 0; });
  if (is_nothing || list.is_usual(kind, everyone_on(kind))) return {};
  std::vector<Grant> grants = list.grants();
  sort_by_grantee(grants);
  return grants;
}

}  // namespace swizzle::sql
