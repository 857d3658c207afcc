#pragma once

#include <string>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Triggers as the catalogs show them.
namespace swizzle::sql {

/// Returns pg_trigger.tgtype.
std::int16_t trigger_type_bits(const Trigger& trigger);
/// Returns the SQL that would make the trigger.
std::string shown_trigger(StatementContext& session, const TablePtr& table, const Trigger& trigger,
                          bool pretty);

/// Emits the rows of pg_trigger.
void trigger_rows(Execution& execution, const EmitRow& emit);

}  // namespace swizzle::sql
