#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

/// tsvector_update_trigger() and its like: functions of triggers that came with the server.
namespace swizzle::sql {

struct BuiltinTriggerFunction {
  Oid oid;
  std::string_view name;
};
/// Null where there is none of that name in pg_catalog, or number.
const BuiltinTriggerFunction* find_builtin_trigger_function(std::string_view name) noexcept;
const BuiltinTriggerFunction* find_builtin_trigger_function(Oid oid) noexcept;

/// Keeps a column's words those of other columns. Returns the row, in the row arena.
std::optional<std::span<const Value>> update_text_vector(Execution& execution,
                                                         const Trigger& trigger,
                                                         const TablePtr& table, TriggerEvent event,
                                                         const FiredRows& rows);

}  // namespace swizzle::sql
