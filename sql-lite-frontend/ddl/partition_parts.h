#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"

/// A partitioned table's checks, foreign keys and triggers, for one partition and those below it;
/// each returns the partition's definition then.
namespace swizzle::sql {

TablePtr give_check(Session::State& session, const Constraint& constraint, const TablePtr& to);
TablePtr give_foreign_key(Session::State& session, const Relation& parent,
                          const Constraint& constraint, const TablePtr& to);
TablePtr give_trigger(Session::State& session, const Relation& parent, const Trigger& trigger,
                      const TablePtr& to);
/// What the partitions of a table have for one of its triggers, checks or foreign keys goes.
void drop_parts_of_trigger(Session::State& session, const Table& table, Oid trigger);
void drop_parts_of_constraint(Session::State& session, const Table& table, Oid constraint);
/// Numbers of columns of the one as those of the other, by name.
std::vector<std::int16_t> numbers_in(const Relation& from, const Relation& to,
                                     std::span<const std::int16_t> numbers);

}  // namespace swizzle::sql
