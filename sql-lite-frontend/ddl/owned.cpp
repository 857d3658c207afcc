#include "sql-lite-frontend/ddl/owned.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/ddl/collations.h"
#include "sql-lite-frontend/ddl/dependents.h"
#include "sql-lite-frontend/ddl/role_rights.h"
#include "sql-lite-frontend/ddl/text_search.h"
#include "sql-lite-frontend/ddl/transfer.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDenied{"42501"};

std::vector<RolePtr> roles_named(Session::State& session, ast::NodeList list,
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

/// The first role owns what the server itself needs.
void refuse_bootstrap(std::span<const RolePtr> roles, std::string_view what) {
  for (const RolePtr& role : roles) {
    if (role->oid != kBootstrapRole) continue;
    throw_error(sqlstate::dependent_objects_still_exist,
                "cannot {} objects owned by role {} because they are required by the database "
                "system",
                what, role->name);
  }
}

bool is_any(std::span<const RolePtr> roles, Oid oid) {
  return std::ranges::any_of(roles, [oid](const RolePtr& role) { return role->oid == oid; });
}

/// Takes out what the roles hold or have granted. Whether anything was.
bool forget_grants(std::vector<Grant>& grants, std::span<const RolePtr> roles) {
  return std::erase_if(grants, [&](const Grant& grant) {
           return is_any(roles, grant.grantee) || is_any(roles, grant.grantor);
         }) > 0;
}

bool forget_grants(Relation& relation, std::span<const RolePtr> roles) {
  bool changed = forget_grants(relation.grants, roles);
  for (Column& column : relation.columns) changed |= forget_grants(column.grants, roles);
  return changed;
}

void revoke_all(Session::State& session, std::span<const RolePtr> roles) {
  for (const TablePtr& table : session.catalog.tables()) {
    if (is_any(roles, table->relation.owner)) continue;
    Relation seen = table->relation;
    if (!forget_grants(seen, roles)) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    Relation relation = locked->relation;
    forget_grants(relation, roles);
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    Schema changed = *schema;
    if (is_any(roles, schema->owner) || !forget_grants(changed.grants, roles)) continue;
    session.catalog.replace(*session.transaction, *schema, std::move(changed));
  }
  for (const DatabasePtr& database : session.catalog.databases()) {
    DatabaseEntry changed = *database;
    if (is_any(roles, database->owner) || !forget_grants(changed.grants, roles)) continue;
    session.catalog.replace(*session.transaction, *database, std::move(changed));
  }
  for (const RoutinePtr& routine : session.catalog.routines()) {
    Routine changed = *routine;
    if (is_any(roles, routine->owner) || !forget_grants(changed.grants, roles)) continue;
    session.catalog.replace(*session.transaction, *routine, std::move(changed));
  }
  for (const TypePtr& type : session.catalog.types()) {
    UserType changed = *type;
    if (is_any(roles, type->owner) || !forget_grants(changed.grants, roles)) continue;
    session.catalog.replace(*session.transaction, *type, std::move(changed));
  }
  Catalog& shared = session.catalog.shared();
  for (DefaultGrants& defaults : read_default_grants(shared, *session.transaction)) {
    if (is_any(roles, defaults.role)) {
      remove_default_grants(shared, *session.transaction, defaults);
    } else if (forget_grants(defaults.grants, roles)) {
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

void drop_owned(Session::State& session, const ast::DropOwnedStmt& statement, ResultSink& sink) {
  const std::vector<RolePtr> roles = roles_named(session, statement.roles, "drop");
  refuse_bootstrap(roles, "drop");
  std::vector<SchemaPtr> schemas;
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    if (is_any(roles, schema->owner)) schemas.push_back(schema);
  }
  std::vector<TablePtr> owned;
  std::vector<Dependent> dependents;
  for (const TablePtr& table : session.catalog.tables()) {
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
  for (Dependent& dependent : dependents_of(session, owned)) {
    dependents.push_back(std::move(dependent));
  }
  std::vector<TypePtr> types;
  for (const TypePtr& type : session.catalog.types()) {
    if (is_any(roles, type->owner)) types.push_back(type);
  }
  for (Dependent& dependent : dependents_of_types(session, types)) {
    if (!dependent.table || std::ranges::find(owned, dependent.table) == owned.end()) {
      dependents.push_back(std::move(dependent));
    }
  }
  std::vector<RoutinePtr> routines;
  for (const RoutinePtr& routine : session.catalog.routines()) {
    if (is_any(roles, routine->owner)) routines.push_back(routine);
  }
  for (Dependent& dependent : dependents_of_routines(session, routines)) {
    const bool is_known =
        std::ranges::find(dependents, dependent.name, &Dependent::name) != dependents.end() ||
        (dependent.table && std::ranges::find(owned, dependent.table) != owned.end());
    if (!is_known) dependents.push_back(std::move(dependent));
  }
  std::vector<CollationPtr> collations;
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>()) {
    if (!is_any(roles, collation->owner)) continue;
    collations.push_back(collation);
    for (Dependent& dependent : dependents_of_collation(session, *collation)) {
      const bool is_known =
          std::ranges::find(dependents, dependent.name, &Dependent::name) != dependents.end() ||
          (dependent.table && std::ranges::find(owned, dependent.table) != owned.end());
      if (!is_known) dependents.push_back(std::move(dependent));
    }
  }
  for (const RolePtr& role : roles) {
    std::vector<Dependent> users;
    add_users_of_owned_text_search(session, role->oid, users);
    for (Dependent& dependent : users) {
      const bool is_known =
          std::ranges::find(dependents, dependent.name, &Dependent::name) != dependents.end() ||
          (dependent.table && std::ranges::find(owned, dependent.table) != owned.end());
      if (!is_known) dependents.push_back(std::move(dependent));
    }
  }
  for (const SchemaPtr& schema : schemas) {
    add_text_search_of_schema(session, *schema, dependents);
    add_collations_of_schema(session, *schema, dependents);
    add_types_of_schema(session, *schema, dependents);
    add_routines_of_schema(session, *schema, dependents);
  }
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
         read_default_grants(session.catalog.shared(), *session.transaction)) {
      if (grants.schema != schema->oid) continue;
      remove_default_grants(session.catalog.shared(), *session.transaction, grants);
    }
    session.catalog.remove(*session.transaction, *schema);
  }
  for (const PublicationPtr& publication : session.catalog.all_made<Publication>()) {
    if (is_any(roles, publication->owner))
      session.catalog.remove(*session.transaction, *publication);
  }
  revoke_all(session, roles);
  sink.command_complete("DROP OWNED");
}

void reassign_owned(Session::State& session, const ast::ReassignOwnedStmt& statement,
                    ResultSink& sink) {
  const std::vector<RolePtr> roles = roles_named(session, statement.roles, "reassign");
  const RolePtr heir = role_of(session, *statement.newrole);
  if (!session.rights.owns(heir->oid))
    throw_error(kDenied, "permission denied to reassign objects");
  refuse_bootstrap(roles, "reassign ownership of");
  for (const TablePtr& table : session.catalog.tables()) {
    if (!is_any(roles, table->relation.owner)) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    give_relation(session, *locked, heir->oid);
  }
  for (const TypePtr& type : session.catalog.types()) {
    if (!is_any(roles, type->owner)) continue;
    UserType changed = *session.catalog.lock_type(*session.transaction, *type,
                                                  lock::RelationMode::access_exclusive);
    give(changed, GrantedOn::type, heir->oid);
    session.catalog.replace(*session.transaction, *type, std::move(changed));
  }
  for (const RoutinePtr& routine : session.catalog.routines()) {
    if (!is_any(roles, routine->owner)) continue;
    Routine changed = *session.catalog.lock_routine(*session.transaction, *routine);
    give(changed, GrantedOn::function, heir->oid);
    session.catalog.replace(*session.transaction, *routine, std::move(changed));
  }
  for (const CollationPtr& collation : session.catalog.all_made<UserCollation>()) {
    if (!is_any(roles, collation->owner)) continue;
    UserCollation changed = *collation;
    changed.owner = heir->oid;
    session.catalog.replace(*session.transaction, *collation, std::move(changed));
  }
  for (const RolePtr& role : roles) reassign_text_search(session, role->oid, heir->oid);
  for (const PublicationPtr& publication : session.catalog.all_made<Publication>()) {
    if (!is_any(roles, publication->owner)) continue;
    Publication changed = *publication;
    changed.owner = heir->oid;
    session.catalog.replace(*session.transaction, *publication, std::move(changed));
  }
  for (const SchemaPtr& schema : session.catalog.schemas()) {
    if (!is_any(roles, schema->owner)) continue;
    Schema changed = *schema;
    give(changed, GrantedOn::schema, heir->oid);
    session.catalog.replace(*session.transaction, *schema, std::move(changed));
  }
  for (const DatabasePtr& database : session.catalog.databases()) {
    if (!is_any(roles, database->owner)) continue;
    DatabaseEntry changed = *database;
    give(changed, GrantedOn::database, heir->oid);
    session.catalog.replace(*session.transaction, *database, std::move(changed));
  }
  sink.command_complete("REASSIGN OWNED");
}

}  // namespace swizzle::sql
