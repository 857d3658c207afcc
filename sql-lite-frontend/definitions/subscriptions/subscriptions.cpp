#include "sql-lite-frontend/definitions/subscriptions/subscriptions.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void refuse_missing(std::string_view name) {
  throw_error(sqlstate::undefined_object, "subscription \"{}\" does not exist", name);
}

void replace(StatementContext& session, const Subscription& old, const Subscription& changed) {
  replace_subscription(session.catalog, *session.transaction, old, changed);
}

}  // namespace

void refuse_without_password() {
  throw SqlError{sqlstate::insufficient_privilege, "password_required=false is superuser-only"}
      .with_hint(
          "Subscriptions with the password_required option set to false may only be created or "
          "modified by the superuser.");
}

Subscription lock_own_subscription(StatementContext& session, std::string_view name) {
  Subscription found = lock_dropped_subscription(session, name);
  if (!found.password_required && !session.rights.is_superuser(session.user))
    refuse_without_password();
  return found;
}

Subscription lock_dropped_subscription(StatementContext& session, std::string_view name) {
  Catalog& catalog = session.catalog.of_database();
  const auto found = find_subscription(catalog, *session.transaction, name);
  if (!found) refuse_missing(name);
  if (!session.rights.owns(found->owner))
    throw_error(sqlstate::insufficient_privilege, "must be owner of subscription {}", name);
  session.catalog.lock(*session.transaction, found->oid, lock::RelationMode::access_exclusive);
  auto newest = lock_subscription(catalog, *session.transaction, found->oid);
  if (!newest || newest->name != name) refuse_missing(name);
  return *std::move(newest);
}

void rename_subscription(StatementContext& session, std::string_view name,
                         std::string_view new_name) {
  const Subscription old = lock_own_subscription(session, name);
  session.rights.require_create_on_database();
  if (find_subscription(session.catalog.of_database(), *session.transaction, new_name))
    throw_error(sqlstate::duplicate_object, "subscription \"{}\" already exists", new_name);
  Subscription changed = old;
  changed.name = new_name;
  replace(session, old, changed);
}

void set_subscription_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const Subscription old = lock_own_subscription(session, ast::string_of(statement.object));
  const RolePtr owner = role_of(session, *statement.newowner);
  if (owner->oid == old.owner) return;
  session.rights.require_set_role(*owner);
  session.rights.require_create_on_database();
  Subscription changed = old;
  changed.owner = owner->oid;
  replace(session, old, changed);
}

void comment_on_subscription(StatementContext& session, std::string_view name,
                             std::string_view text) {
  const Subscription subscription = lock_own_subscription(session, name);
  Catalog& catalog = session.catalog.of_database();
  put_comment(catalog, *session.transaction, catalog.database(),
              {class_id::pg_subscription, subscription.oid, 0, std::string{text}});
}

void reassign_subscriptions(StatementContext& session, const std::vector<RolePtr>& roles,
                            Oid heir) {
  Catalog& catalog = session.catalog.of_database();
  for (const Subscription& one : read_subscriptions(catalog, *session.transaction)) {
    const bool is_theirs =
        std::ranges::any_of(roles, [&](const RolePtr& role) { return role->oid == one.owner; });
    if (!is_theirs) continue;
    const Subscription old = lock_own_subscription(session, one.name);
    Subscription changed = old;
    changed.owner = heir;
    replace(session, old, changed);
  }
}

}  // namespace swizzle::sql
