#pragma once

#include "sql-lite-frontend/ddl/named_relation.h"

namespace swizzle::sql {

/// Which relations an action of ALTER TABLE is for. 42809 where it is not for this one.
void require_target(const NamedRelation& found, const ast::AlterTableCmd& action);

}  // namespace swizzle::sql
