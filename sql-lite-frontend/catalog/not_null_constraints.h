#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"

/// NOT NULL constraints, of which each column and each domain that is `not_null` has one.
namespace swizzle::sql {

/// A name that PostgreSQL gives an object which has none: "t_a_key". The first two parts are cut
/// where it would be too long.
struct ObjectName {
  std::string first;
  std::string second;  ///< may be empty
  std::string kind;

  /// 0: without a number.
  [[nodiscard]] std::string numbered(int number) const;
};
ObjectName object_name(std::string_view first, std::string_view second, std::string_view kind);

/// Returns the column's constraint; null if the column has none. Position from 0.
const Constraint* not_null_of(const Relation& relation, std::size_t position) noexcept;
Constraint* not_null_of(Relation& relation, std::size_t position) noexcept;

/// Adds a constraint, under its default name, for each column of a table that is `not_null` and has
/// none, and removes those of other columns. `allocate` returns the number of a new constraint.
void complete_not_nulls(Relation& relation, const std::function<Oid()>& allocate);

/// Adds the constraints that a record of before format 21 lacks. Their numbers depend on the
/// relation's number and the column's alone, so that every reader finds the same.
void name_old_not_nulls(Relation& relation);
/// Adds the constraint that the record of a NOT NULL domain of before format 22 lacks.
void name_old_not_null(UserType& domain);

}  // namespace swizzle::sql
