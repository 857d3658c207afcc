#pragma once

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Checks and NOT NULL constraints that heirs have because their parents have them.
namespace swizzle::sql {

/// True for a constraint that heirs have, too.
bool goes_to_heirs(const Constraint& constraint) noexcept;
/// Returns the heir's constraint for that of its parent: the check of that name, the NOT NULL of
/// that column. Null if there is none.
Constraint* constraint_for(const Relation& parent, const Constraint& given,
                           Relation& heir) noexcept;
/// Counts one more parent that has the part, or one parent less.
template <class Part>
void count_parent(Part& part) noexcept {
  if (part.inherit_count++ == 0) part.also_local = true;
}
template <class Part>
void discount_parent(Part& part) noexcept {
  if (--part.inherit_count == 0) part.also_local = false;
}

/// Gives the constraint to the children of the parent, and to theirs; one that a child has is
/// merged with it.
void give_to_heirs(StatementContext& session, const Relation& parent, const Constraint& given);
/// Drops the constraint in the children that have it from this parent alone, and in theirs. `only`:
/// leaves it to the children as their own.
void drop_in_heirs(StatementContext& session, const Relation& parent, const Constraint& gone,
                   bool only);
/// Leaves the constraint to the children as their own.
inline void leave_to_heirs(StatementContext& session, const Relation& parent,
                           const Constraint& left) {
  drop_in_heirs(session, parent, left, true);
}

}  // namespace swizzle::sql
