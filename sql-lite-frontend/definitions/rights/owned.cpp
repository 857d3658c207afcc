#include "sql-lite-frontend/definitions/rights/owned.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/rights/grant.h"
#include "sql-lite-frontend/definitions/rights/large_objects.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/subscriptions/subscriptions.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDenied{"42501"};

std::vector<RolePtr> roles_named(StatementContext& session, ast::NodeList list,
                                 std::string_view denied) {
  std::vector<RolePtr> roles;
  for (const ast::Node* node : list) {
    roles.push_back(role_of(session, ast::as<ast::RoleSpec>(node)));
  }
  for (const RolePtr& role : roles) {
    if (!session.rights.owns(role->oid))
      throw_error(kDenied, "permission denied to {} objects", denied);
  }
  return roles;
}

/// The first role owns the objects that the server itself needs.
void refuse_bootstrap(std::span<const RolePtr> roles, std::string_view what) {
  for (const RolePtr& role : roles) {
    if (role->oid != kBootstrapRole) continue;
    throw_error(sqlstate::dependent_objects_still_exist,
                "cannot {} objects owned by role {} because they are required by the database "
                "system",
                what, role->name);
  }
}

NamedObjects numbers_of(std::span<const RolePtr> roles) {
  NamedObjects numbers;
  for (const RolePtr& role : roles) numbers.push_back(role->oid);
  return numbers;
}

/// Removes from access lists the grants that some roles hold or have granted.
class Forgetting {
 public:
  Forgetting(StatementContext& session, std::span<const RolePtr> roles) : session_(session) {
    for (const RolePtr& role : roles) roles_.push_back(role->oid);
  }

  /// Removes the roles from the grants. False: they had none.
  bool forget(std::vector<Grant>& grants, Oid owner) const {
    if (grants.empty()) return false;
    AccessList list = AccessList::exactly(grants, owner);
    tell_memberships(session_, list);
    if (!list.forget(roles_)) return false;
    // An empty list differs from no list, which means the default privileges.
    grants = list.grants();
    return true;
  }
  bool forget(Relation& relation) const {
    bool changed = forget(relation.grants, relation.owner);
    for (Column& column : relation.columns) {
      if (!forget(column.grants, relation.owner)) continue;
      std::erase_if(column.grants, [](const Grant& grant) { return grant.privileges.empty(); });
      changed = true;
    }
    return changed;
  }

 private:
  StatementContext& session_;
  std::vector<Oid> roles_;
};

void revoke_all(StatementContext& session, std::span<const RolePtr> roles) {
  const Forgetting theirs{session, roles};
  const NamedObjects named = numbers_of(roles);
  for (const TablePtr& table : session.catalog.naming<Table>(named)) {
    if (is_any(roles, table->relation.owner)) continue;
    Relation seen = table->relation;
    if (!theirs.forget(seen)) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    Relation relation = locked->relation;
    theirs.forget(relation);
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
  const auto revoke_from = [&](const auto& objects) {
    for (const auto& object : objects) {
      auto changed = *object;
      if (is_any(roles, object->owner) || !theirs.forget(changed.grants, object->owner)) continue;
      session.catalog.replace(*session.transaction, *object, std::move(changed));
    }
  };
  revoke_from(session.catalog.naming<Schema>(named));
  revoke_from(session.catalog.databases());
  revoke_from(session.catalog.naming<Routine>(named));
  revoke_from(session.catalog.naming<UserType>(named));
  Catalog& shared = session.catalog.of_database();
  for (DefaultGrants& defaults : read_default_grants(shared, *session.transaction)) {
    const bool are_theirs = is_any(roles, defaults.role);
    if (!are_theirs && !theirs.forget(defaults.grants, defaults.role)) continue;
    // Default privileges for one schema only add to others, so an empty list is removed.
    const bool is_nothing =
        std::ranges::all_of(defaults.grants, &std::string::empty, &Grant::privileges);
    if (are_theirs || (defaults.schema != kNoOid && is_nothing)) {
      remove_default_grants(shared, *session.transaction, defaults);
    } else {
      put_default_grants(shared, *session.transaction, std::move(defaults));
    }
  }
}

template <class Owned>
void give(Owned& owned, GrantedOn kind, Oid owner) {
  if (!owned.grants.empty()) {
    AccessList list{owned.grants, owned.owner, kind, everyone_on(kind)};
    list.change_owner(owner);
    owned.grants = list.grants();
  }
  owned.owner = owner;
}

}  // namespace

void drop_owned(StatementContext& session, const ast::DropOwnedStmt& statement, ResultSink& sink) {
  const std::vector<RolePtr> roles = roles_named(session, statement.roles, "drop");
  refuse_bootstrap(roles, "drop");
  const NamedObjects named = numbers_of(roles);
  std::vector<SchemaPtr> schemas;
  NamedObjects named_with_schemas = named;
  for (const SchemaPtr& schema : session.catalog.naming<Schema>(named)) {
    if (!is_any(roles, schema->owner)) continue;
    schemas.push_back(schema);
    named_with_schemas.push_back(schema->oid);
  }
  std::vector<TablePtr> owned;
  std::vector<Dependent> dependents;
  for (const TablePtr& table : session.catalog.naming<Table>(named_with_schemas)) {
    if (is_any(roles, table->relation.owner)) {
      owned.push_back(table);
      continue;
    }
    const auto inside =
        std::ranges::find(schemas, table->relation.schema, [](const auto& s) { return s->oid; });
    if (inside == schemas.end()) continue;
    dependents.push_back({Dependent::Kind::table, table, kNoOid, 0, described(session, *table),
                          "schema " + (*inside)->name});
  }
  const auto add_all = [&](std::vector<Dependent>&& found) {
    for (Dependent& dependent : found) add_once(dependents, std::move(dependent));
  };
  add_all(dependents_of(session, owned));
  std::vector<TypePtr> types;
  for (const TypePtr& type : session.catalog.naming<UserType>(named)) {
    if (is_any(roles, type->owner)) types.push_back(type);
  }
  add_all(dependents_of_types(session, types));
  std::vector<RoutinePtr> routines;
  for (const RoutinePtr& routine : session.catalog.naming<Routine>(named)) {
    if (is_any(roles, routine->owner)) routines.push_back(routine);
  }
  add_all(dependents_of_routines(session, routines));
  std::vector<CollationPtr> collations;
  for (const CollationPtr& collation : session.catalog.naming<UserCollation>(named)) {
    if (!is_any(roles, collation->owner)) continue;
    collations.push_back(collation);
    add_all(dependents_of_collation(session, *collation));
  }
  for (const RolePtr& role : roles) {
    std::vector<Dependent> users;
    add_users_of_owned_text_search(session, role->oid, users);
    add_all(std::move(users));
  }
  for (const SchemaPtr& schema : schemas) {
    add_text_search_of_schema(session, *schema, dependents);
    add_collations_of_schema(session, *schema, dependents);
    add_types_of_schema(session, *schema, dependents);
    add_routines_of_schema(session, *schema, dependents);
  }
  // Objects that the roles own themselves are dropped anyway.
  std::erase_if(dependents, [&](const Dependent& dependent) {
    const auto is_among = [&](const auto& objects) {
      return std::ranges::any_of(objects,
                                 [&](const auto& one) { return one->oid == dependent.oid; });
    };
    if (dependent.table) return std::ranges::find(owned, dependent.table) != owned.end();
    if (dependent.kind == Dependent::Kind::type) return is_among(types);
    if (dependent.kind == Dependent::Kind::routine) return is_among(routines);
    if (dependent.kind == Dependent::Kind::collation) return is_among(collations);
    const auto is_owned = [&](const auto& made) { return made && is_any(roles, made->owner); };
    if (dependent.kind == Dependent::Kind::text_dictionary)
      return is_owned(session.catalog.made<UserTextDictionary>(dependent.oid));
    return dependent.kind == Dependent::Kind::text_config &&
           is_owned(session.catalog.made<UserTextConfig>(dependent.oid));
  });
  std::string what{kSeveralObjects};
  if (owned.size() + schemas.size() == 1 && types.empty()) {
    what = owned.empty() ? "schema " + schemas[0]->name : described(session, *owned[0]);
  }
  drop_dependents(session, dependents, what, statement.behavior, sink);
  for (const TablePtr& table : owned) {
    const TablePtr present = session.catalog.table(table->relation.oid);
    if (present) session.drop_relation(present);
  }
  for (const TypePtr& type : types) {
    const TypePtr present = session.names.user_type(type->id());
    if (present) session.catalog.remove(*session.transaction, *present);
  }
  for (const CollationPtr& collation : collations) {
    const CollationPtr present = session.catalog.made<UserCollation>(collation->oid);
    if (present) session.catalog.remove(*session.transaction, *present);
  }
  for (const RolePtr& role : roles) remove_owned_text_search(session, role->oid);
  for (const RoutinePtr& routine : routines) {
    const RoutinePtr present = session.catalog.routine(routine->oid);
    if (present) session.catalog.remove(*session.transaction, *present);
  }
  for (const SchemaPtr& schema : schemas) {
    for (const DefaultGrants& grants :
         read_default_grants(session.catalog.of_database(), *session.transaction)) {
      if (grants.schema != schema->oid) continue;
      remove_default_grants(session.catalog.of_database(), *session.transaction, grants);
    }
    session.catalog.remove(*session.transaction, *schema);
  }
  for (const PublicationPtr& publication : session.catalog.naming<Publication>(named)) {
    if (is_any(roles, publication->owner))
      session.catalog.remove(*session.transaction, *publication);
  }
  for (const EventTriggerPtr& trigger : session.catalog.naming<EventTrigger>(named)) {
    if (is_any(roles, trigger->owner)) session.catalog.remove(*session.transaction, *trigger);
  }
  drop_owned_large_objects(session, roles);
  revoke_all(session, roles);
  take_memberships_of(session, roles);
  forget_policies_of(session, roles);
}

void reassign_owned(StatementContext& session, const ast::ReassignOwnedStmt& statement) {
  const std::vector<RolePtr> roles = roles_named(session, statement.roles, "reassign");
  const RolePtr heir = role_of(session, *statement.newrole);
  if (!session.rights.owns(heir->oid))
    throw_error(kDenied, "permission denied to reassign objects");
  refuse_bootstrap(roles, "reassign ownership of");
  const NamedObjects named = numbers_of(roles);
  for (const TablePtr& table : session.catalog.naming<Table>(named)) {
    if (!is_any(roles, table->relation.owner)) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    give_relation(session, *locked, heir->oid);
  }
  for (const TypePtr& type : session.catalog.naming<UserType>(named)) {
    if (!is_any(roles, type->owner)) continue;
    UserType changed = *session.catalog.lock_type(*session.transaction, *type,
                                                  lock::RelationMode::access_exclusive);
    give(changed, GrantedOn::type, heir->oid);
    session.catalog.replace(*session.transaction, *type, std::move(changed));
  }
  for (const RoutinePtr& routine : session.catalog.naming<Routine>(named)) {
    if (!is_any(roles, routine->owner)) continue;
    Routine changed = *session.catalog.lock_routine(*session.transaction, *routine);
    give(changed, GrantedOn::function, heir->oid);
    session.catalog.replace(*session.transaction, *routine, std::move(changed));
  }
  for (const CollationPtr& collation : session.catalog.naming<UserCollation>(named)) {
    if (!is_any(roles, collation->owner)) continue;
    UserCollation changed = *collation;
    changed.owner = heir->oid;
    session.catalog.replace(*session.transaction, *collation, std::move(changed));
  }
  for (const RolePtr& role : roles) reassign_text_search(session, role->oid, heir->oid);
  for (const PublicationPtr& publication : session.catalog.naming<Publication>(named)) {
    if (!is_any(roles, publication->owner)) continue;
    Publication changed = *publication;
    changed.owner = heir->oid;
    session.catalog.replace(*session.transaction, *publication, std::move(changed));
  }
  for (const EventTriggerPtr& trigger : session.catalog.naming<EventTrigger>(named)) {
    if (!is_any(roles, trigger->owner)) continue;
    EventTrigger changed = *trigger;
    changed.owner = heir->oid;
    session.catalog.replace(*session.transaction, *trigger, std::move(changed));
  }
  reassign_subscriptions(session, roles, heir->oid);
  for (const SchemaPtr& schema : session.catalog.naming<Schema>(named)) {
    if (!is_any(roles, schema->owner)) continue;
    Schema changed = *schema;
    give(changed, GrantedOn::schema, heir->oid);
    session.catalog.replace(*session.transaction, *schema, std::move(changed));
  }
  reassign_large_objects(session, roles, heir->oid);
  for (const DatabasePtr& database : session.catalog.databases()) {
    if (!is_any(roles, database->owner)) continue;
    DatabaseEntry changed = *database;
    give(changed, GrantedOn::database, heir->oid);
    session.catalog.replace(*session.transaction, *database, std::move(changed));
  }
}

}  // namespace swizzle::sql
