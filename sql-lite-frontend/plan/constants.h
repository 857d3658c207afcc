#pragma once

#include <optional>

#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Returns the error of a part of the query that has no variables and cannot be computed: 1 / 0. It
/// is the statement's error, with or without rows, and comes before the first row, as from a
/// planner that folds constants. Visits the outermost SELECT's clauses, those of a set operation's
/// parts, and SET and WHERE of UPDATE and DELETE; not subqueries, which may not run, nor INSERT's
/// query and LIMIT. In CASE and COALESCE, branches that constants exclude are skipped. Branches
/// after a condition that depends on parameters are skipped too, and so is CASE with a subject.
std::optional<SqlError> constant_failure(const Query& query, Execution& execution);
std::optional<SqlError> constant_failure(const WriteStatement& write, Execution& execution);

/// Returns the parts whose only variables are parameters, in the same clauses: a statement whose
/// literals have become parameters fails with them before its first row.
std::vector<ExprPtr> computed_from_parameters(const Query& query);
std::vector<ExprPtr> computed_from_parameters(const WriteStatement& write);

/// Returns the expected value of an expression that reads no row and no parameter that the
/// execution does not have yet, and depends on nothing but the time. Use it only to guess how many
/// rows the expression lets through. Nothing if it cannot be computed. Valid until the execution
/// runs.
std::optional<Value> foreseen_value(const Expr& expr, Execution& execution);

/// Fixedness of an expression that only immutable functions compute from constants, or also from
/// parameters.
enum class Fixed : std::uint8_t { no, by_parameters, always };
Fixed how_fixed(const Expr& expr);

}  // namespace swizzle::sql
