#pragma once

#include "sql-lite-frontend/definitions/tables/table_builder.h"

/// NOT NULL constraints of existing tables and of their partitions.
namespace swizzle::sql {

/// Returns the name that the column's constraint gets, or the next one that is free.
std::string default_not_null_name(const Relation& relation, std::size_t position);
/// Throws 55000 if a parent's constraint cannot be merged with the one that the table has.
void refuse_not_null_mismatch(const Relation& relation, const Constraint& known, bool no_inherit,
                              bool validated);
/// Gives a partition, and those below it, the NOT NULL constraint that its parent has got.
TablePtr give_not_null(StatementContext& session, const Relation& parent,
                       const Constraint& constraint, const TablePtr& to);
/// Tells the partitions' constraints that come from old records which constraint of the table they
/// are there for.
void link_old_not_nulls(StatementContext& session, const Table& table);
/// Removes the constraint from the partitions that have it from `whole` alone; in others it becomes
/// their own.
void drop_not_nulls_below(StatementContext& session, const Table& table, Oid whole);
/// Makes the copies that partitions have of `whole` their own.
void leave_not_nulls_below(StatementContext& session, const Table& table, Oid whole);
/// Merges the constraints of a table that is attached with those of its parent.
void take_not_nulls(const Relation& parent, Relation& relation);
/// VALIDATE CONSTRAINT of a NOT NULL constraint, and of the partitions' copies.
void validate_not_null(StatementContext& session, const TablePtr& table, Oid constraint);
/// ALTER CONSTRAINT … [NO] INHERIT.
void alter_inheritability(StatementContext& session, const TablePtr& table,
                          const Constraint& constraint, bool no_inherit);

}  // namespace swizzle::sql
