#pragma once

#include <functional>
#include <span>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Computes the new form of a row; the values may refer to the execution's row arena.
using RowChange = std::function<void(Execution& execution, std::span<const Value> old_row,
                                     std::span<Value> new_row)>;

/// Writes all rows of `old` into fresh trees in the order of the new definition's key, with all
/// indexes, and drops the old trees. Without a `change` the rows are copied unchanged. `relation`
/// is the new definition; its trees are set here. Constraints are checked: NOT NULL, CHECK, keys.
/// Returns the new version of the table.
TablePtr rewrite_table(StatementContext& session, const TablePtr& old, Relation relation,
                       const RowChange& change);

/// Calls `visit` with every row of the newest version of the table.
void visit_rows(StatementContext& session, const TablePtr& table,
                const std::function<void(std::span<const Value> row)>& visit);

/// Fills one new index from the table's rows. Pre: its tree is new and empty.
enum class IndexCommand : std::uint8_t {
  create = 1,
  reindex = 3
};  ///< pg_stat_progress_create_index
void fill_index(StatementContext& session, const TablePtr& table, std::size_t index,
                IndexCommand command = IndexCommand::create);

/// Checks that every row of the table has its referenced row.
void validate_foreign_key(StatementContext& session, const TablePtr& table,
                          const Constraint& constraint);

/// Checks all rows against new constraints: those from `first` on, and NOT NULL.
void validate_constraints(StatementContext& session, const TablePtr& table, std::size_t first);

}  // namespace swizzle::sql
