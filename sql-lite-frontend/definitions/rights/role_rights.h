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
/// 42501 unless one may add members to the group, or take them out of it: as `grantor`.
void require_right_on_members(StatementContext& session, const Role& group, Oid grantor);
/// Makes a role a member of another, or ends that, for all statements that can.
void change_membership(StatementContext& session, const MembershipChange& change, ResultSink& sink);
void require_right_on_roles(StatementContext& session);

}  // namespace swizzle::sql
