#include "sql-lite-frontend/statement/large_objects.h"

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

LargeObjects large_objects_of(StatementContext& session) {
  return {session.shared.engine, session.catalog.of_database(),
          [&session] { session.check_cancelled(); }};
}

LargeObject large_object_named(StatementContext& session, const LargeObjects& objects, Oid oid,
                               ReadMode mode) {
  std::optional<LargeObject> found = objects.find(*session.transaction, oid, mode);
  if (!found) throw_error(sqlstate::undefined_object, "large object {} does not exist", oid);
  return *std::move(found);
}

AccessList access_list(const LargeObject& object) {
  return {object.grants, object.owner, GrantedOn::large_object};
}

void require_right(StatementContext& session, const LargeObject& object, Privileges rights) {
  if (session.settings.boolean("lo_compat_privileges") || session.rights.is_superuser(session.user))
    return;
  const Privileges has = access_list(object).allowed(session.rights.roles_of(session.user));
  if ((rights & ~has) == 0) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for large object {}",
              object.oid);
}

void require_owner(StatementContext& session, const LargeObject& object) {
  if (session.rights.owns(object.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of large object {}", object.oid);
}

void remove_large_object(StatementContext& session, LargeObjects& objects, Oid oid) {
  objects.remove(*session.transaction, oid);
  Catalog& catalog = session.catalog.of_database();
  put_comment(catalog, *session.transaction, catalog.database(),
              {class_id::pg_largeobject, oid, 0, {}});
}

}  // namespace swizzle::sql
