#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// GRANT and REVOKE of roles: memberships. A role may have several in one group, by different
/// grantors; each grant but the bootstrap role's depends on an ADMIN OPTION of its grantor.
namespace swizzle::sql {
namespace {

std::string name_of(const StatementContext& session, Oid role) {
  const RolePtr known = session.catalog.role(role);
  return known ? known->name : std::to_string(role);
}

/// Checks the current user's right to change memberships in the group.
void require_right_on_members(const StatementContext& session, const Role& group, bool gives) {
  const std::string_view verb = gives ? "grant" : "revoke";
  if (group.oid == kDatabaseOwnerRole) {
    throw_error(sqlstate::feature_not_supported, "role \"{}\" cannot have explicit members",
                group.name);
  }
  const auto refuse = [&](std::string detail) {
    throw sql_error(sqlstate::insufficient_privilege, "permission denied to {} role \"{}\"", verb,
                    group.name)
        .with_detail(std::move(detail));
  };
  if (group.superuser) {
    if (session.rights.is_superuser(session.user)) return;
    refuse(
        fmt::format("Only roles with the SUPERUSER attribute may {} roles with the SUPERUSER "
                    "attribute.",
                    verb));
  }
  if (session.rights.is_admin_of(session.user, group.oid)) return;
  refuse(fmt::format("Only roles with the ADMIN option on role \"{}\" may {} this role.",
                     group.name, verb));
}

/// Returns the role that is recorded as the grantor: the given one, if it may be, or the one whose
/// ADMIN OPTION the current user uses.
Oid grantor_for(const StatementContext& session, const Role& group, Oid given, bool gives) {
  if (given == kNoOid) {
    if (session.rights.is_superuser(session.user)) return kBootstrapRole;
    const Oid best = session.rights.best_admin_of(session.user, group.oid);
    if (best == kNoOid) throw SqlError{SqlState{"XX000"}, "no possible grantors"};
    return best;
  }
  const std::string name = name_of(session, given);
  if (!session.rights.owns(given)) {
    if (!gives) {
      throw sql_error(sqlstate::insufficient_privilege,
                      "permission denied to revoke privileges granted by role \"{}\"", name)
          .with_detail(fmt::format("Only roles with privileges of role \"{}\" may revoke "
                                   "privileges granted by this role.",
                                   name));
    }
    throw sql_error(sqlstate::insufficient_privilege,
                    "permission denied to grant privileges as role \"{}\"", name)
        .with_detail(fmt::format(
            "Only roles with privileges of role \"{}\" may grant privileges as this role.", name));
  }
  if (gives && given != kBootstrapRole && session.rights.best_admin_of(given, group.oid) != given) {
    throw sql_error(sqlstate::insufficient_privilege,
                    "permission denied to grant privileges as role \"{}\"", name)
        .with_detail(
            fmt::format("The grantor must have the ADMIN option on role \"{}\".", group.name));
  }
  return given;
}

Membership* membership_by(Role& member, Oid group, Oid grantor) {
  const auto found = std::ranges::find_if(member.member_of, [&](const Membership& one) {
    return one.group == group && one.grantor == grantor;
  });
  return found == member.member_of.end() ? nullptr : &*found;
}

void insert(Role& member, const Membership& now) {
  // The order in which a grant searches for the grant option that it uses.
  const auto place = std::ranges::upper_bound(member.member_of, now.group, {}, &Membership::group);
  member.member_of.insert(place, now);
}

/// Sets the option if it is given. Returns true for a change.
bool apply(bool& option, const std::optional<bool>& wanted) {
  return wanted && std::exchange(option, *wanted) != *wanted;
}

/// The group's memberships of all roles.
struct GroupMember {
  Oid member;
  Membership membership;
};
std::vector<GroupMember> members_of(const StatementContext& session, Oid group) {
  std::vector<GroupMember> members;
  for (const RolePtr& role : session.catalog.roles()) {
    for (const Membership& one : role->member_of) {
      if (one.group == group) members.push_back({role->oid, one});
    }
  }
  return members;
}

/// Removes the grants that depend on options that their grantors have lost. Without `cascade`,
/// throws if there are any. The bootstrap role needs no option.
void take_dependent(std::vector<GroupMember>& members, bool cascade) {
  const auto has_admin = [&](Oid role) {
    return std::ranges::any_of(members, [&](const GroupMember& one) {
      return one.member == role && one.membership.admin_option;
    });
  };
  for (;;) {
    const auto orphan = std::ranges::find_if(members, [&](const GroupMember& one) {
      const Oid grantor = one.membership.grantor;
      return grantor != kBootstrapRole && !has_admin(grantor);
    });
    if (orphan == members.end()) return;
    if (!cascade) {
      throw SqlError{SqlState{"2BP01"}, "dependent privileges exist"}.with_hint(
          "Use CASCADE to revoke them too.");
    }
    members.erase(orphan);
  }
}

/// Stores the group's memberships of the roles that have changed.
void store(StatementContext& session, Oid group, const std::vector<GroupMember>& members) {
  for (const RolePtr& role : session.catalog.roles()) {
    Role changed = *role;
    std::erase_if(changed.member_of, [&](const Membership& old) {
      return old.group == group && std::ranges::none_of(members, [&](const GroupMember& one) {
               return one.member == role->oid && one.membership.grantor == old.grantor;
             });
    });
    bool differs = changed.member_of.size() != role->member_of.size();
    for (const GroupMember& one : members) {
      if (one.member != role->oid) continue;
      Membership* const known = membership_by(changed, group, one.membership.grantor);
      if (known == nullptr) continue;
      differs |= known->admin_option != one.membership.admin_option ||
                 known->inherit_option != one.membership.inherit_option ||
                 known->set_option != one.membership.set_option;
      *known = one.membership;
    }
    if (differs) session.catalog.replace(*session.transaction, *role, std::move(changed));
  }
}

/// Throws if the grant would make options depend on one another in a circle.
void refuse_circle(const StatementContext& session, Oid group, Oid member, Oid grantor) {
  if (grantor == kBootstrapRole) return;
  std::vector<GroupMember> members = members_of(session, group);
  // Without the member's options the grantor must keep its own.
  std::erase_if(members, [&](const GroupMember& one) { return one.member == member; });
  take_dependent(members, true);
  const bool keeps = std::ranges::any_of(members, [&](const GroupMember& one) {
    return one.member == grantor && one.membership.admin_option;
  });
  if (keeps) return;
  throw SqlError{SqlState{"0LP01"}, "ADMIN option cannot be granted back to your own grantor"};
}

}  // namespace

void give_membership(StatementContext& session, const MembershipChange& change, ResultSink& sink) {
  const RolePtr group = session.catalog.role(change.group);
  const RolePtr member = session.catalog.role(change.member);
  require_right_on_members(session, *group, true);
  const Oid grantor = grantor_for(session, *group, change.grantor, true);
  if (member->oid == kDatabaseOwnerRole) {
    throw_error(sqlstate::feature_not_supported, "role \"{}\" cannot be a member of any role",
                member->name);
  }
  if (session.rights.is_member(group->oid, member->oid)) {
    throw_error(sqlstate::invalid_grant_operation, "role \"{}\" is a member of role \"{}\"",
                group->name, member->name);
  }
  const MembershipOptions& options = change.options;
  if (options.admin.value_or(false)) refuse_circle(session, group->oid, member->oid, grantor);
  Role changed = *member;
  if (Membership* known = membership_by(changed, group->oid, grantor)) {
    if (options.admin == false && known->admin_option) {
      std::vector<GroupMember> members = members_of(session, group->oid);
      for (GroupMember& one : members) {
        if (one.member == member->oid && one.membership.grantor == grantor)
          one.membership.admin_option = false;
      }
      take_dependent(members, false);
    }
    bool changes = apply(known->admin_option, options.admin);
    changes |= apply(known->inherit_option, options.inherit);
    changes |= apply(known->set_option, options.set);
    if (!changes) {
      return session.notice(
          sink, Severity::notice, SqlState{"00000"},
          fmt::format("role \"{}\" has already been granted membership in role \"{}\" by role "
                      "\"{}\"",
                      member->name, group->name, name_of(session, grantor)));
    }
  } else {
    Membership now;
    now.group = group->oid;
    now.grantor = grantor;
    now.oid = session.catalog.allocate_oid();
    now.admin_option = options.admin.value_or(false);
    now.inherit_option = options.inherit.value_or(member->inherit);
    now.set_option = options.set.value_or(true);
    insert(changed, now);
  }
  session.catalog.replace(*session.transaction, *member, std::move(changed));
}

void take_membership(StatementContext& session, const MembershipChange& change,
                     ast::DropBehavior behavior, ResultSink& sink) {
  const RolePtr group = session.catalog.role(change.group);
  const RolePtr member = session.catalog.role(change.member);
  require_right_on_members(session, *group, false);
  const Oid grantor = grantor_for(session, *group, change.grantor, false);
  std::vector<GroupMember> members = members_of(session, group->oid);
  const auto known = std::ranges::find_if(members, [&](const GroupMember& one) {
    return one.member == member->oid && one.membership.grantor == grantor;
  });
  if (known == members.end()) {
    return session.notice(
        sink, Severity::warning, SqlState{"01000"},
        fmt::format("role \"{}\" has not been granted membership in role \"{}\" by role \"{}\"",
                    member->name, group->name, name_of(session, grantor)));
  }
  if (!change.options.any()) {
    members.erase(known);
  } else {
    if (change.options.admin) known->membership.admin_option = false;
    if (change.options.inherit) known->membership.inherit_option = false;
    if (change.options.set) known->membership.set_option = false;
  }
  take_dependent(members, behavior == ast::DropBehavior::cascade);
  store(session, group->oid, members);
}

void take_memberships_of(StatementContext& session, const std::vector<RolePtr>& grantors) {
  const auto is_theirs = [&](Oid grantor) {
    return std::ranges::any_of(grantors, [&](const RolePtr& one) { return one->oid == grantor; });
  };
  for (const RolePtr& group : session.catalog.roles()) {
    std::vector<GroupMember> members = members_of(session, group->oid);
    const auto goes = [&](const GroupMember& one) { return is_theirs(one.membership.grantor); };
    if (std::erase_if(members, goes) == 0) continue;
    take_dependent(members, true);
    store(session, group->oid, members);
  }
}

Result<MembershipOptions> self_grant_options(std::string_view setting) {
  const auto refuse = [&](std::string detail) {
    return fail(
        Error{sqlstate::invalid_parameter_value,
              fmt::format("invalid value for parameter \"createrole_self_grant\": \"{}\"", setting)}
            .with_detail(std::move(detail)));
  };
  constexpr std::string_view kBlanks = " \t\n\r\f";
  MembershipOptions options;
  std::string_view rest = setting;
  if (rest.find_first_not_of(kBlanks) == std::string_view::npos) return options;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = rest.find(',');
    is_last = comma == std::string_view::npos;
    std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(is_last ? rest.size() : comma + 1);
    word.remove_prefix(std::min(word.find_first_not_of(kBlanks), word.size()));
    word = word.substr(0, word.find_last_not_of(kBlanks) + 1);
    if (word.empty() || word.find_first_of(kBlanks) != std::string_view::npos) {
      return refuse("List syntax is invalid.");
    }
    const std::string lower = lower_case(word);
    if (lower == "set") {
      options.set = true;
    } else if (lower == "inherit") {
      options.inherit = true;
    } else {
      return refuse(fmt::format("Unrecognized key word: \"{}\".", lower));
    }
  }
  return options;
}

void give_membership_of_creator(StatementContext& session, Oid group) {
  if (session.rights.is_superuser(session.user)) return;
  const RolePtr creator = session.catalog.role(session.user);
  Role changed = *creator;
  Membership now;
  now.group = group;
  now.oid = session.catalog.allocate_oid();
  now.admin_option = true;
  now.inherit_option = now.set_option = false;
  insert(changed, now);
  const auto own = self_grant_options(session.settings.text("createrole_self_grant"));
  if (own && own->any()) {
    now.oid = session.catalog.allocate_oid();
    now.grantor = creator->oid;
    now.admin_option = false;
    now.inherit_option = own->inherit.value_or(false);
    now.set_option = own->set.value_or(false);
    insert(changed, now);
  }
  session.catalog.replace(*session.transaction, *creator, std::move(changed));
}

namespace {

/// Returns the options of GRANT, or those that REVOKE takes away.
MembershipOptions options_of(const ast::GrantRoleStmt& statement) {
  MembershipOptions options;
  for (const ast::Node* node : statement.opt) {
    const auto& option = ast::as<ast::DefElem>(node);
    const bool given = ast::as<ast::Boolean>(option.arg).boolval;
    if (option.defname == "admin") {
      options.admin = given;
    } else if (option.defname == "inherit") {
      options.inherit = given;
    } else if (option.defname == "set") {
      options.set = given;
    } else {
      throw sql_error(sqlstate::syntax_error, "unrecognized role option \"{}\"", option.defname)
          .at_position(option.location + 1);
    }
  }
  return options;
}

}  // namespace

void grant_membership(StatementContext& session, const ast::GrantRoleStmt& statement,
                      ResultSink& sink) {
  const MembershipOptions options = options_of(statement);
  const Oid grantor =
      statement.grantor == nullptr ? kNoOid : role_of(session, *statement.grantor)->oid;
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
    for (const Oid member : members) {
      const MembershipChange change{group->oid, member, options, grantor};
      if (statement.is_grant) {
        give_membership(session, change, sink);
      } else {
        take_membership(session, change, statement.behavior, sink);
      }
    }
  }
}

}  // namespace swizzle::sql
