#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Throws 23502 or 23514 if a stored value of the domain, or of a domain over it, violates `rules`;
/// 0A000 if such values are inside other values. The tables stay locked against writers.
void validate_domain(StatementContext& session, const UserType& domain, const UserType& rules);

}  // namespace swizzle::sql
