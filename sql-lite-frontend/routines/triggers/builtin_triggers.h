#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

/// Built-in trigger functions: tsvector_update_trigger() and its variants,
/// suppress_redundant_updates_trigger().
namespace swizzle::sql {

struct BuiltinTriggerFunction {
  Oid oid;
  std::string_view name;
  /// Returns the row, in the row arena; nothing if it must not be written.
  std::optional<std::span<const Value>> (*run)(Execution& execution, const Trigger& trigger,
                                               const TablePtr& table, TriggerEvent event,
                                               const FiredRows& rows);
};
/// Returns null if pg_catalog has no trigger function of that name, or number.
const BuiltinTriggerFunction* find_builtin_trigger_function(std::string_view name) noexcept;
const BuiltinTriggerFunction* find_builtin_trigger_function(Oid oid) noexcept;

}  // namespace swizzle::sql
