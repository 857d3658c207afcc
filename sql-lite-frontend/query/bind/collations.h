#pragma once

#include <span>

#include "sql-lite-frontend/query/bind/name_source.h"
#include "sql-lite-frontend/query/bound/expression.h"

/// Derives the collation of an expression by SQL's rules. A COLLATE clause takes precedence over a
/// column's collation, and that over the default. If columns of different collations meet, there is
/// none; an operation that needs one then throws 42P22.
namespace swizzle::sql {

struct DerivedCollation {
  /// Strengths, from the weakest to the strongest.
  enum class Strength : std::uint8_t { none, implicit, conflict, explicit_ };
  Oid collation = kNoOid;
  Strength strength = Strength::none;
  /// True if it is explicit, or not the default: only then does it affect the expression.
  bool matters = false;
  /// The second collation, if columns with different ones meet.
  Oid other = kNoOid;
};

DerivedCollation collation_of(const Expr& expr);
/// Returns the collation of an expression with these operands; null operands are skipped. 42P21 if
/// COLLATE clauses name different collations.
DerivedCollation merge_collations(NameSource& names, std::span<const ExprPtr> operands);
DerivedCollation merge_collations(NameSource& names, const ExprPtr& left, const ExprPtr& right);
DerivedCollation merge_collations(NameSource& names, std::span<const Expr* const> operands);

/// Sets the expression's collation, if values of its type have one and it matters; otherwise
/// removes it.
void apply_collation(Expr& expr, const DerivedCollation& derived);
/// Sets the collation of the slot of a call's result: a COLLATE clause among the arguments applies
/// to it as well.
void keep_explicit_collation(NameSource& names, Expr& result, std::span<const ExprPtr> arguments);
/// The same for a type.
TypeId with_derived(TypeId type, const DerivedCollation& derived);

/// Throws 42P21 for two sides with different collations, as columns of UNION.
[[noreturn]] void throw_collation_mismatch(NameSource& names, const DerivedCollation& derived,
                                           std::int32_t location);

/// Returns the collation that COLLATE names. Throws 42704, at `location`.
Oid require_collation(NameSource& names, ast::NodeList name, std::int32_t location);

}  // namespace swizzle::sql
