#pragma once

#include <memory>
#include <string_view>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/execution/write/row_events.h"

/// REFERENCING OLD TABLE AS … NEW TABLE AS …: the rows that a statement has changed, as relations
/// that the statements of a trigger's function can name.
namespace swizzle::sql {

/// Rows of one table changed by one event. Spilled like all row events.
struct TransitionRows {
  RowEvents old_rows;
  RowEvents new_rows;
};

/// Relations for the transition tables of one trigger. Plans refer to them; they get their rows
/// when the trigger fires.
struct TransitionTables {
  TablePtr old_table;  ///< null: the trigger does not name it
  TablePtr new_table;
  const TransitionRows* rows = nullptr;  ///< of this firing

  [[nodiscard]] TablePtr find(std::string_view name) const;
};

/// Returns the tables that the trigger names, without rows.
TransitionTables transition_tables_of(const Trigger& trigger, const Table& table);
[[nodiscard]] inline bool names_transition_tables(const Trigger& trigger) noexcept {
  return !trigger.old_table.empty() || !trigger.new_table.empty();
}

}  // namespace swizzle::sql
