#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Throws 23502 or 23514 where a value that is stored now, of the domain or of one over it, is none
/// that `rules` allow; 0A000 where such values lie within others. The tables stay locked against
/// writers.
void validate_domain(StatementContext& session, const UserType& domain, const UserType& rules);

}  // namespace swizzle::sql
