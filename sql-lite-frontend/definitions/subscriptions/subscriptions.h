#pragma once

#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Changes of subscriptions that need no connection to the publisher. The others are in
/// session/subscriptions/.
namespace swizzle::sql {

/// Returns the newest version, locked until the transaction ends. Throws 42704; 42501 unless the
/// current role owns it, or if password_required is false and the role is no superuser.
Subscription lock_own_subscription(StatementContext& session, std::string_view name);
/// The same for DROP, for which the password does not matter.
Subscription lock_dropped_subscription(StatementContext& session, std::string_view name);
/// Throws 42501: only a superuser may use password_required = false.
[[noreturn]] void refuse_without_password();

void rename_subscription(StatementContext& session, std::string_view name,
                         std::string_view new_name);
void set_subscription_owner(StatementContext& session, const ast::AlterOwnerStmt& statement);
void comment_on_subscription(StatementContext& session, std::string_view name,
                             std::string_view text);

/// Gives the subscriptions of `roles` to another role: REASSIGN OWNED.
void reassign_subscriptions(StatementContext& session, const std::vector<RolePtr>& roles, Oid heir);

}  // namespace swizzle::sql
