#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Renames the column in `relation`, the table's definition, including its stored expressions.
void rename_column(StatementContext& session, const TablePtr& table, Relation& relation,
                   std::size_t position, const std::string& new_name);
/// Throws 42P16 for a column that a partition inherits, and for ONLY.
void require_renameable(StatementContext& session, const Relation& relation, std::size_t position,
                        bool with_partitions);
/// Renames the column in the partitions of `table`, which is the definition before the change.
void rename_column_below(StatementContext& session, const Table& table, std::string_view name,
                         const std::string& new_name);
/// Renames a check constraint in the partitions.
void rename_constraint_below(StatementContext& session, const Table& table, std::string_view name,
                             const std::string& new_name);

}  // namespace swizzle::sql
