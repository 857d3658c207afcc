#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/definitions/tables/table_change.h"

/// Table inheritance: INHERITS, INHERIT and NO INHERIT, and what ALTER TABLE changes in heirs.
namespace swizzle::sql {

/// INHERITS of CREATE TABLE: locks the parents and gives the relation their columns and
/// constraints. Returns the positions of columns for which the parents have different defaults.
std::vector<std::size_t> inherit_from_parents(StatementContext& session,
                                              const ast::CreateStmt& statement, Relation& relation,
                                              ResultSink& sink);
/// Throws 42611 unless the statement says the default of each of the columns.
void require_chosen_defaults(const ast::CreateStmt& statement, const Relation& relation,
                             std::span<const std::size_t> positions);

/// INHERIT and NO INHERIT of ALTER TABLE.
void add_parent(StatementContext& session, const TablePtr& table, const ast::RangeVar& parent);
void remove_parent(StatementContext& session, const TablePtr& table, const ast::RangeVar& parent);

/// ALTER TABLE of a table that inherits from others, or of which others inherit. `only`: without
/// its heirs.
void alter_heirs(StatementContext& session, TableChange& change, const ast::AlterTableCmd& command,
                 bool only);

/// Renames the column in the table's heirs. Throws 42P16 for a column of an heir that comes from
/// another table, too.
void rename_column_in_heirs(StatementContext& session, const TablePtr& table, std::string_view name,
                            const std::string& new_name);
void rename_constraint_in_heirs(StatementContext& session, const TablePtr& table,
                                std::string_view name, const std::string& new_name);

/// Returns the number of the heir's parents that are in the list.
std::int16_t parents_among(const Relation& heir, std::span<const TablePtr> tables);
/// Throws 42P21 or 42804 unless the heir's column has the type and collation of its parent's.
void require_same_column(const Relation& heir, const Column& own, const Column& given);

}  // namespace swizzle::sql
