#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// The triggers by which PostgreSQL checks foreign keys and deferrable keys, for pg_trigger. Here
/// they are not run: the writes check their keys themselves.
namespace swizzle::sql {

struct InternalTrigger {
  Trigger trigger;
  Oid index = kNoOid;  ///< of the key: tgconstrindid
};

/// Returns those on a table: of its own constraints, and of the foreign keys that refer to it.
std::vector<InternalTrigger> internal_triggers(StatementContext& session, const Table& table);
/// Returns the constraint that an internal trigger of this number belongs to; 0 if none could.
Oid constraint_of_internal_trigger(Oid trigger) noexcept;

}  // namespace swizzle::sql
