#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Rights to change roles and their memberships, as of PostgreSQL 16.
namespace swizzle::sql {

/// Options of a membership that GRANT sets, or that REVOKE … OPTION FOR takes away; absent ones are
/// not mentioned.
struct MembershipOptions {
  std::optional<bool> admin = {};
  std::optional<bool> inherit = {};
  std::optional<bool> set = {};

  [[nodiscard]] bool any() const noexcept {
    return admin.has_value() || inherit.has_value() || set.has_value();
  }
};
struct MembershipChange {
  Oid group = kNoOid;
  Oid member = kNoOid;
  MembershipOptions options = {};
  Oid grantor = kNoOid;  ///< none: GRANTED BY is absent
};

RolePtr role_of(StatementContext& session, const ast::RoleSpec& spec);
/// True if the number is one of these roles'.
inline bool is_any(std::span<const RolePtr> roles, Oid oid) {
  return std::ranges::any_of(roles, [oid](const RolePtr& role) { return role->oid == oid; });
}
/// Adds a role to another, or changes the options of its membership; used by all statements that do
/// so. Throws 42501 without the right.
void give_membership(StatementContext& session, const MembershipChange& change, ResultSink& sink);
/// Removes a membership, or options of it.
void take_membership(StatementContext& session, const MembershipChange& change,
                     ast::DropBehavior behavior, ResultSink& sink);
/// Returns the options that a value of createrole_self_grant names: "set, inherit". 22023 for
/// others.
Result<MembershipOptions> self_grant_options(std::string_view setting);
/// Gives CREATE ROLE's user the membership WITH ADMIN OPTION in its new role, and the one that
/// createrole_self_grant asks for.
void give_membership_of_creator(StatementContext& session, Oid group);
/// Removes the memberships that the roles have granted, and those that depend on them.
void take_memberships_of(StatementContext& session, const std::vector<RolePtr>& grantors);
/// True for a superuser, and for a role with CREATEROLE and the ADMIN OPTION on `role`.
bool may_administer(const StatementContext& session, const Role& role);
/// Throws 42501 unless the session may give such a role settings.
void require_right_on_settings(StatementContext& session, const Role& role);
/// Throws 42501 "permission denied to VERB role".
[[noreturn]] void refuse_role_change(std::string_view verb, std::string detail);

}  // namespace swizzle::sql
