#include "sql-lite-frontend/catalog/privileges.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/catalog/relation_rights.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// May this session do that? A superuser may do anything and is not asked further.
namespace swizzle::sql {
namespace {

std::string_view noun_of(const Routine& routine) {
  if (routine.kind == RoutineKind::aggregate) return "aggregate";
  return routine.kind == RoutineKind::procedure ? "procedure" : "function";
}

/// True if every one of the columns may be used so; for no columns, if any column may.
bool columns_allowed(const Relation& relation, std::span<const std::size_t> positions,
                     Privileges wanted, std::span<const Oid> roles) {
  const auto allowed = [&](const Column& column) {
    const AccessList list{column.grants, relation.owner, GrantedOn::column};
    return (list.allowed(roles) & wanted) == wanted;
  };
  if (positions.empty()) return std::ranges::any_of(relation.columns, allowed);
  return std::ranges::all_of(
      positions, [&](std::size_t position) { return allowed(relation.columns[position]); });
}

bool is_allowed(const RelationAccess& access, std::span<const Oid> roles) {
  const Relation& relation = access.table->relation;
  Privileges missing = access.wants & ~access_list(*access.table).allowed(roles);
  const auto check_columns = [&](Privileges bit, std::span<const std::size_t> positions) {
    if ((missing & bit) != 0 && columns_allowed(relation, positions, bit, roles)) missing &= ~bit;
  };
  if (access.is_whole) return missing == 0;
  if (!access.reads_system_column) check_columns(privilege::kSelect, access.read);
  check_columns(privilege::kInsert, access.inserted);
  check_columns(privilege::kUpdate, access.updated);
  return missing == 0;
}

}  // namespace

namespace {

/// Memberships that are followed: those that give rights, those that SET ROLE may use, all.
enum class Following : std::uint8_t { inherited, settable, all };

bool is_followed(const Membership& membership, Following which) {
  if (which == Following::inherited) return membership.inherit_option;
  return which == Following::all || membership.set_option;
}

/// The role and those that it is a member of, by way of others too, nearest first.
void add_memberships(const CatalogView& catalog, const DatabasePtr& database, Following which,
                     std::vector<Oid>& roles, std::size_t from) {
  const auto add = [&](Oid group) {
    if (std::ranges::find(roles, group) == roles.end()) roles.push_back(group);
  };
  for (std::size_t i = from; i < roles.size(); ++i) {
    const RolePtr member = catalog.role(roles[i]);
    if (!member) continue;
    for (const Membership& membership : member->member_of) {
      if (is_followed(membership, which)) add(membership.group);
    }
    if (database && database->owner == member->oid) add(kDatabaseOwnerRole);
  }
}

}  // namespace

std::vector<Oid> SessionRights::roles_of(Oid role) const {
  std::vector<Oid> roles{kPublic, role};
  add_memberships(session_.catalog, session_.catalog.database(session_.options.database),
                  Following::inherited, roles, 1);
  return roles;
}

bool SessionRights::is_member(Oid role, Oid group) const {
  std::vector<Oid> roles{role};
  add_memberships(session_.catalog, session_.catalog.database(session_.options.database),
                  Following::all, roles, 0);
  return std::ranges::find(roles, group) != roles.end();
}

bool SessionRights::may_set_role(Oid role, Oid group) const {
  if (is_superuser(role)) return true;
  std::vector<Oid> roles{role};
  add_memberships(session_.catalog, session_.catalog.database(session_.options.database),
                  Following::settable, roles, 0);
  return std::ranges::find(roles, group) != roles.end();
}

Oid SessionRights::best_admin_of(Oid role, Oid group) const {
  if (role == group) return kNoOid;
  for (const Oid through : roles_of(role)) {
    const RolePtr member = through == kPublic ? nullptr : session_.catalog.role(through);
    if (member && member->is_admin_of(group)) return through;
  }
  return kNoOid;
}

bool SessionRights::is_admin_of(Oid role, Oid group) const {
  if (is_superuser(role)) return true;
  // A role is never the admin of itself, not even through others.
  if (role == group) return false;
  std::vector<Oid> roles{role};
  add_memberships(session_.catalog, session_.catalog.database(session_.options.database),
                  Following::all, roles, 0);
  return std::ranges::any_of(roles, [&](Oid through) {
    const RolePtr member = session_.catalog.role(through);
    return member && member->is_admin_of(group);
  });
}

bool SessionRights::owns(Oid role) const {
  if (is_superuser(session_.user)) return true;
  const std::vector<Oid> roles = roles_of(session_.user);
  return role != kNoOid && std::ranges::find(roles, role) != roles.end();
}

bool SessionRights::is_superuser(Oid role) const {
  const RolePtr known = session_.catalog.role(role);
  return known && known->superuser;
}

void SessionRights::check_accesses(PlanUse& use) {
  const RoleStamp now = session_.role_stamp();
  if (use.allowed_under == now) [[likely]] {
    return;
  }
  for (const RelationAccess& access : use.plan->accesses) {
    require(access);
    require_populated(*access.table);
  }
  for (const RoutinePtr& routine : use.plan->executes) require_execute(*routine);
  use.allowed_under = now;
}

bool SessionRights::may(const Routine& routine, Privileges wants) const {
  if (is_superuser(session_.user)) return true;
  const AccessList list{routine.grants, routine.owner, GrantedOn::function, kEveryoneOnFunction};
  return (wants & ~list.allowed(roles_of(session_.user))) == 0;
}

bool SessionRights::may_use(const UserType& type) const {
  if (is_superuser(session_.user)) return true;
  const AccessList list{type.grants, type.owner, GrantedOn::type, kEveryoneOnType};
  return (list.allowed(roles_of(session_.user)) & privilege::kUsage) != 0;
}

void SessionRights::require_execute(const Routine& routine) const {
  if (may(routine, privilege::kExecute)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for {} {}", noun_of(routine),
              routine.name);
}

void SessionRights::require_populated(const Table& table) const {
  if (table.relation.populated || table.relation.oid == session_.names.expanded_view) return;
  throw sql_error(SqlState{"55000"}, "materialized view \"{}\" has not been populated",
                  table.relation.name)
      .with_hint("Use the REFRESH MATERIALIZED VIEW command.");
}

void SessionRights::require(const RelationAccess& access) const {
  const Oid role = access.as_role != kNoOid ? access.as_role : session_.user;
  if (is_superuser(role)) return;
  if (is_allowed(access, roles_of(role))) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for {} {}",
              right_noun(*access.table), access.table->relation.name);
}

bool StatementContext::may_read(const TablePtr& table, std::span<const std::int16_t> columns) {
  if (rights.is_superuser(user)) return true;
  if (names.hides_rows(*table)) return false;
  RelationAccess access{table, kNoOid, privilege::kSelect, {}, {}, {}};
  for (const std::int16_t column : columns) {
    access.read.push_back(static_cast<std::size_t>(column - 1));
  }
  return is_allowed(access, rights.roles_of(user));
}

void SessionRights::require(const TablePtr& table, Privileges wants) const {
  RelationAccess access{table, kNoOid, wants, {}, {}, {}};
  access.is_whole = true;
  require(access);
}

void SessionRights::require_owner(const Table& table) const {
  const Relation& relation = table.relation;
  if (owns(relation.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of {} {}", noun_of(relation.kind),
              relation.name);
}

TablePtr SessionRights::lock_own(const TablePtr& table, lock::RelationMode mode) {
  require_owner(*table);
  return session_.catalog.lock_for_change(*session_.transaction, table, mode);
}

bool SessionRights::may(const Schema& schema, Privileges wants) const {
  return may(session_.user, schema, wants);
}

bool SessionRights::may(Oid role, const Schema& schema, Privileges wants) const {
  if (is_superuser(role)) return true;
  const AccessList list{schema.grants, schema.owner, GrantedOn::schema,
                        everyone_on_schema(schema.oid)};
  return (wants & ~list.allowed(roles_of(role))) == 0;
}

void SessionRights::require(const Schema& schema, Privileges wants) const {
  if (may(schema, wants)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for schema {}", schema.name);
}

void SessionRights::require_owner(const Schema& schema) const {
  if (owns(schema.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of schema {}", schema.name);
}

bool SessionRights::may_maintain(const Table& table) const {
  if (is_superuser(session_.user)) return true;
  return (access_list(table).allowed(roles_of(session_.user)) & privilege::kMaintain) != 0;
}

/// Checks the rights for LOCK TABLE: SELECT suffices to lock against definitions; other modes need
/// a right to change rows, or MAINTAIN.
void SessionRights::require_lock(const TablePtr& table, lock::RelationMode mode,
                                 Oid as_role) const {
  const Oid role = as_role != kNoOid ? as_role : session_.user;
  if (is_superuser(role)) return;
  RelationAccess access{table, as_role, privilege::kUpdate, {}, {}, {}};
  access.is_whole = true;
  if (mode == lock::RelationMode::access_share) access.wants = privilege::kSelect;
  if (table->computed != nullptr) return require(access);
  const Privileges held = access_list(*table).allowed(roles_of(role));
  Privileges enough =
      privilege::kUpdate | privilege::kDelete | privilege::kTruncate | privilege::kMaintain;
  const bool is_weak = mode == lock::RelationMode::access_share ||
                       mode == lock::RelationMode::row_share ||
                       mode == lock::RelationMode::row_exclusive;
  if (is_weak) enough |= privilege::kInsert;
  if (mode == lock::RelationMode::access_share) enough |= privilege::kSelect;
  if ((held & enough) == 0) require(access);
}

void SessionRights::require_connect() const {
  const DatabasePtr database = session_.catalog.database(session_.options.database);
  if (!database || may(*database, privilege::kConnect)) return;
  throw sql_error(sqlstate::insufficient_privilege, "permission denied for database \"{}\"",
                  database->name)
      .with_detail("User does not have CONNECT privilege.");
}

bool SessionRights::may_see(const Relation& relation) const {
  if (owns(relation.owner)) return true;
  const std::vector<Oid> roles = roles_of(session_.user);
  if ((access_list(relation).allowed(roles) & ~privilege::kMaintain) != 0) return true;
  return std::ranges::any_of(relation.columns, [&](const Column& column) {
    return AccessList{column.grants, relation.owner, GrantedOn::column}.allowed(roles) != 0;
  });
}

bool SessionRights::may_see(const Relation& relation, const Column& column) const {
  if (owns(relation.owner)) return true;
  const std::vector<Oid> roles = roles_of(session_.user);
  const AccessList own{column.grants, relation.owner, GrantedOn::column};
  const Privileges held = access_list(relation).allowed(roles) | own.allowed(roles);
  return (held & all_privileges(GrantedOn::column)) != 0;
}

bool SessionRights::may(const DatabaseEntry& database, Privileges wants) const {
  if (is_superuser(session_.user)) return true;
  const AccessList list{database.grants, database.owner, GrantedOn::database, kEveryoneOnDatabase};
  return (wants & ~list.allowed(roles_of(session_.user))) == 0;
}

void SessionRights::require_create_on_database() const {
  const DatabasePtr database = session_.catalog.database(session_.options.database);
  if (!database || may(*database, privilege::kCreate)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for database {}",
              database->name);
}

void SessionRights::require_temporary() const {
  require_unrestricted(session_, "create temporary table");
  if (!session_.catalog.role(session_.user)) {
    throw_error(sqlstate::undefined_object, "role {} was concurrently dropped", session_.user);
  }
  const DatabasePtr database = session_.catalog.database(session_.options.database);
  if (!database || may(*database, privilege::kTemporary)) return;
  if (session_.names.temp_schema != kNoOid) {
    throw_error(sqlstate::insufficient_privilege, "permission denied for schema {}",
                session_.names.schema_name(session_.names.temp_schema));
  }
  throw_error(sqlstate::insufficient_privilege,
              "permission denied to create temporary tables in database \"{}\"", database->name);
}

void SessionRights::require_set_role(const Role& new_owner) const {
  if (may_set_role(session_.user, new_owner.oid)) return;
  throw_error(sqlstate::insufficient_privilege, "must be able to SET ROLE \"{}\"", new_owner.name);
}

void SessionRights::require_role_right(bool Role::* right, std::string_view what) const {
  const RolePtr now = session_.catalog.role(session_.user);
  if (now && (now->superuser || (*now).*right)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied to {}", what);
}

void SessionRights::require_owner(const DatabaseEntry& database) const {
  if (owns(database.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of database {}", database.name);
}

}  // namespace swizzle::sql
