#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// GRANT and REVOKE of roles: memberships.
namespace swizzle::sql {

void require_right_on_members(StatementContext& session, const Role& group, Oid grantor) {
  const RolePtr now = session.catalog.role(session.user);
  if (now && now->superuser) return;
  if (group.superuser) {
    throw SqlError{sqlstate::insufficient_privilege, "must be superuser to alter superusers"};
  }
  if ((now && now->create_role) || session.rights.is_admin_of(grantor, group.oid)) return;
  throw_error(sqlstate::insufficient_privilege, "must have admin option on role \"{}\"",
              group.name);
}

namespace {

void require_possible(const StatementContext& session, const Role& group, const Role& member) {
  // pg_database_owner's only member is the database's owner, without a grant.
  if (group.oid == kDatabaseOwnerRole) {
    throw_error(SqlState{"XX000"}, "role \"{}\" cannot have explicit members", group.name);
  }
  if (member.oid == kDatabaseOwnerRole) {
    throw_error(SqlState{"XX000"}, "role \"{}\" cannot be a member of any role", member.name);
  }
  if (session.rights.is_member(group.oid, member.oid)) {
    throw_error(sqlstate::invalid_grant_operation, "role \"{}\" is a member of role \"{}\"",
                group.name, member.name);
  }
}

}  // namespace

void change_membership(StatementContext& session, const MembershipChange& change,
                       ResultSink& sink) {
  using enum MembershipStep;
  const RolePtr group = session.catalog.role(change.group);
  const RolePtr member = session.catalog.role(change.member);
  const bool gives = change.step == give || change.step == give_with_admin;
  // REVOKE needs the current user's right, even with GRANTED BY.
  require_right_on_members(session, *group, gives ? change.grantor : session.user);
  if (gives) {
    if (change.grantor != session.user && !session.rights.is_superuser(session.user)) {
      throw SqlError{sqlstate::insufficient_privilege, "must be superuser to set grantor"};
    }
    require_possible(session, *group, *member);
  }
  Role changed = *member;
  const auto known = std::ranges::find(changed.member_of, group->oid, &Membership::group);
  const bool is_member_now = known != changed.member_of.end();
  const bool adds = !is_member_now || (change.step == give_with_admin && !known->admin_option);
  if (gives && !adds) {
    return session.notice(
        sink, Severity::notice, SqlState{"00000"},
        fmt::format("role \"{}\" is already a member of role \"{}\"", member->name, group->name));
  }
  if (!gives && !is_member_now) {
    return session.notice(
        sink, Severity::warning, SqlState{"01000"},
        fmt::format("role \"{}\" is not a member of role \"{}\"", member->name, group->name));
  }
  if (gives) {
    const Membership now{group->oid, change.grantor, change.step == give_with_admin};
    if (is_member_now) {
      *known = now;
    } else {
      // Insert in the order in which a grant searches for the grant option that it uses.
      const auto place =
          std::ranges::upper_bound(changed.member_of, now.group, {}, &Membership::group);
      changed.member_of.insert(place, now);
    }
  } else if (change.step == take_admin) {
    known->admin_option = false;
  } else {
    changed.member_of.erase(known);
  }
  session.catalog.replace(*session.transaction, *member, std::move(changed));
}

namespace {

/// Returns the value of ADMIN OPTION in GRANT or REVOKE. Throws 0A000 for other options.
bool has_admin_option(const ast::GrantRoleStmt& statement) {
  for (const ast::Node* node : statement.opt) {
    const auto& option = ast::as<ast::DefElem>(node);
    const bool given = ast::as<ast::Boolean>(option.arg).boolval;
    if (option.defname == "admin" && given == statement.is_grant) continue;
    if (option.defname != "admin" && option.defname != "inherit" && option.defname != "set") {
      throw sql_error(sqlstate::syntax_error, "unrecognized role option \"{}\"", option.defname)
          .at_position(option.location + 1);
    }
    throw_error(sqlstate::feature_not_supported, "{} with the option {} is not supported",
                statement.is_grant ? "GRANT of a role" : "REVOKE of a role", option.defname);
  }
  return !statement.opt.empty();
}

}  // namespace

void grant_membership(StatementContext& session, const ast::GrantRoleStmt& statement,
                      ResultSink& sink) {
  using enum MembershipStep;
  const Oid grantor =
      statement.grantor == nullptr ? session.user : role_of(session, *statement.grantor)->oid;
  const bool about_option = has_admin_option(statement);
  MembershipStep step = about_option ? give_with_admin : give;
  if (!statement.is_grant) step = about_option ? take_admin : take;
  std::vector<Oid> members;
  for (const ast::Node* node : statement.grantee_roles) {
    members.push_back(role_of(session, ast::as<ast::RoleSpec>(node))->oid);
  }
  for (const ast::Node* node : statement.granted_roles) {
    const auto& granted = ast::as<ast::AccessPriv>(node);
    if (granted.priv_name.empty() || !granted.cols.empty()) {
      throw SqlError{sqlstate::invalid_grant_operation,
                     "column names cannot be included in GRANT/REVOKE ROLE"};
    }
    const RolePtr group = session.catalog.role(granted.priv_name);
    if (!group) {
      throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", granted.priv_name);
    }
    for (const Oid member : members)
      change_membership(session, {group->oid, member, step, grantor}, sink);
  }
}

}  // namespace swizzle::sql
