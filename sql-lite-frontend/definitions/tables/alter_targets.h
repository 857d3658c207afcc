#pragma once

#include "sql-lite-frontend/definitions/tables/named_relation.h"

namespace swizzle::sql {

/// Throws 42809 if the action of ALTER TABLE is not allowed for this kind of relation.
void require_target(const NamedRelation& found, const ast::AlterTableCmd& action);

}  // namespace swizzle::sql
