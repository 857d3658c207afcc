#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

struct StatementContext;

/// Returns the grant as an aclitem: "grantee=letters/grantor".
std::string acl_text(const StatementContext& session, const Grant& grant);
/// Returns aclitem[] as in relacl; NULL if nothing was granted or revoked.
Value acl_value(Execution& execution, std::span<const Grant> grants);

}  // namespace swizzle::sql
