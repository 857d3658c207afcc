#pragma once

#include <cstdint>

#include "sql-lite-frontend/statement/statement_context.h"

/// Rights to change memberships of roles.
namespace swizzle::sql {

enum class MembershipStep : std::uint8_t { give, give_with_admin, take_admin, take };
struct MembershipChange {
  Oid group;
  Oid member;
  MembershipStep step;
  Oid grantor;
};

RolePtr role_of(StatementContext& session, const ast::RoleSpec& spec);
/// Throws 42501 if the session may not add or remove members of the group as `grantor`.
void require_right_on_members(StatementContext& session, const Role& group, Oid grantor);
/// Adds a role to another, or removes it; used by all statements that do so.
void change_membership(StatementContext& session, const MembershipChange& change, ResultSink& sink);
void require_right_on_roles(StatementContext& session);

}  // namespace swizzle::sql
