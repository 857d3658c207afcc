#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/bind/access.h"
#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

struct StatementContext;

/// The session's rights, as the role that it acts as. A superuser has all rights without further
/// checks.
class SessionRights {
 public:
  explicit SessionRights(StatementContext& session) : session_(session) {}
  SessionRights(const SessionRights&) = delete;
  SessionRights& operator=(const SessionRights&) = delete;

  /// Returns the role and all roles whose rights it has, PUBLIC among them.
  [[nodiscard]] std::vector<Oid> roles_of(Oid role) const;
  /// True if `role` is `group` or a member of it, directly or not.
  [[nodiscard]] bool is_member(Oid role, Oid group) const;
  /// True if it may grant membership in the group: a superuser, or a holder of the ADMIN OPTION.
  [[nodiscard]] bool is_admin_of(Oid role, Oid group) const;
  /// True if it may become the group by SET ROLE.
  [[nodiscard]] bool may_set_role(Oid role, Oid group) const;
  /// Returns the role with the ADMIN OPTION on the group whose rights `role` has over the fewest
  /// memberships; none if there is none.
  [[nodiscard]] Oid best_admin_of(Oid role, Oid group) const;
  [[nodiscard]] bool is_superuser(Oid role) const;
  /// True if the current role is that owner, or has its rights.
  [[nodiscard]] bool owns(Oid role) const;
  [[nodiscard]] bool may(const Schema& schema, Privileges wants) const;
  [[nodiscard]] bool may(Oid role, const Schema& schema, Privileges wants) const;
  [[nodiscard]] bool may(const DatabaseEntry& database, Privileges wants) const;
  [[nodiscard]] bool may(const Routine& routine, Privileges wants) const;
  /// True with USAGE.
  [[nodiscard]] bool may_use(const UserType& type) const;
  void require_execute(const Routine& routine) const;
  /// For information_schema: true if the role owns the relation or has any right to it, or to one
  /// of its columns; or to this column.
  [[nodiscard]] bool may_see(const Relation& relation) const;
  [[nodiscard]] bool may_see(const Relation& relation, const Column& column) const;
  /// True if the role may see the setting: paths of the server's files are not shown to all.
  [[nodiscard]] bool may_examine(std::string_view setting) const;
  /// Checks the rights for all accesses of a plan; throws 42501, or 55000 for an unpopulated
  /// materialized view.
  void check_accesses(PlanUse& use);
  void require_populated(const Table& table) const;
  /// True with MAINTAIN on the table, which its owner has.
  [[nodiscard]] bool may_maintain(const Table& table) const;
  // Each throws 42501.
  void require(const RelationAccess& access) const;
  void require(const TablePtr& table, Privileges wants) const;
  void require(const Schema& schema, Privileges wants) const;
  void require_owner(const Table& table) const;
  void require_owner(const Schema& schema) const;
  void require_owner(const DatabaseEntry& database) const;
  /// Checks the right to lock: relations behind a view with the rights of `as_role`, else (kNoOid)
  /// of the session's role.
  void require_lock(const TablePtr& table, lock::RelationMode mode, Oid as_role = kNoOid) const;
  void require_connect() const;
  void require_create_on_database() const;
  /// Called for each new temporary relation.
  void require_temporary() const;
  /// Called when an object gets another owner, of which the current role must be a member.
  void require_set_role(const Role& new_owner) const;
  void require_role_right(bool Role::* right, std::string_view what) const;
  /// Returns the relation, locked for a change that only its owner may make.
  TablePtr lock_own(const TablePtr& table,
                    lock::RelationMode mode = lock::RelationMode::access_exclusive);

 private:
  StatementContext& session_;
};

}  // namespace swizzle::sql
