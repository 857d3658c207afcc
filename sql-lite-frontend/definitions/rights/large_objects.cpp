#include "sql-lite-frontend/definitions/rights/large_objects.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/rights/grant.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "storage/held_view.h"

namespace swizzle::sql {
namespace {

void give(LargeObject& object, Oid owner) {
  if (!object.grants.empty()) {
    AccessList list = access_list(object);
    list.change_owner(owner);
    object.grants = list.grants();
  }
  object.owner = owner;
}

}  // namespace

Oid large_object_number(StatementContext& session, const ast::Node* node) {
  if (const auto* number = ast::try_as<ast::Integer>(node)) return static_cast<Oid>(number->ival);
  // Numbers beyond 31 bits are kept as their digits.
  Arena arena;
  FunctionContext context{arena, session.session_context, {}};
  return input_text(context, TypeId::oid, kNoTypmod, ast::as<ast::Float>(node).fval).as_oid();
}

LargeObject lock_large_object(StatementContext& session, const LargeObjects& objects, Oid oid) {
  return large_object_named(session, objects, oid, ReadMode::for_update);
}

void replace_large_object(StatementContext& session, LargeObjects& objects,
                          const LargeObject& object) {
  session.catalog.hold(*session.transaction, object.owner);
  for (const Grant& grant : object.grants) {
    if (grant.grantee != kPublic) session.catalog.hold(*session.transaction, grant.grantee);
  }
  objects.replace(*session.transaction, object);
}

void set_large_object_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  LargeObjects objects = large_objects_of(session);
  LargeObject object =
      lock_large_object(session, objects, large_object_number(session, statement.object));
  const RolePtr heir = role_of(session, *statement.newowner);
  if (heir->oid == object.owner) return;
  require_owner(session, object);
  session.rights.require_set_role(*heir);
  give(object, heir->oid);
  replace_large_object(session, objects, object);
}

void comment_on_large_object(StatementContext& session, const ast::Node* number,
                             std::string_view text) {
  const LargeObjects objects = large_objects_of(session);
  const LargeObject object =
      lock_large_object(session, objects, large_object_number(session, number));
  require_owner(session, object);
  Catalog& catalog = session.catalog.of_database();
  put_comment(catalog, *session.transaction, catalog.database(),
              {class_id::pg_largeobject, object.oid, 0, std::string{text}});
}

void reassign_large_objects(StatementContext& session, std::span<const RolePtr> roles, Oid heir) {
  LargeObjects objects = large_objects_of(session);
  for (const LargeObject& seen : objects.all(*session.transaction)) {
    if (!is_any(roles, seen.owner)) continue;
    LargeObject object = lock_large_object(session, objects, seen.oid);
    give(object, heir);
    replace_large_object(session, objects, object);
  }
}

void drop_owned_large_objects(StatementContext& session, std::span<const RolePtr> roles) {
  LargeObjects objects = large_objects_of(session);
  std::vector<Oid> numbers;
  for (const RolePtr& role : roles) numbers.push_back(role->oid);
  for (const LargeObject& seen : objects.all(*session.transaction)) {
    if (is_any(roles, seen.owner)) {
      remove_large_object(session, objects, seen.oid);
      continue;
    }
    if (seen.grants.empty()) continue;
    LargeObject object = lock_large_object(session, objects, seen.oid);
    AccessList list = AccessList::exactly(object.grants, object.owner);
    tell_memberships(session, list);
    if (!list.forget(numbers)) continue;
    object.grants = list.grants();
    replace_large_object(session, objects, object);
  }
}

}  // namespace swizzle::sql
