#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {

/// Splits the conditions of a list at their ANDs.
void split_conjunctions(std::vector<ExprPtr>& conditions);

/// Adds to each comparison of rows the implied comparison of their first fields.
void add_leads_of_rows(std::vector<ExprPtr>& conditions);

/// Returns the slots that an expression reads, including those that its subqueries read from
/// outside.
std::vector<Slot> slots_read(Expr& expr);
bool reads_any(Expr& expr, std::span<const Slot> slots);
/// True if it reads nothing of `all_local` beyond `allowed`; slots elsewhere are always there.
bool reads_only(Expr& expr, std::span<const Slot> allowed, std::span<const Slot> all_local);

/// left = right, where "=" is the order's own equality of one type, so that hashing and index keys
/// agree with it.
struct Equality {
  ExprPtr* left;
  ExprPtr* right;
};
/// Returns empty pointers when the condition is no such equality.
Equality as_equality(Expr& condition);

/// Returns the column if the expression is one, possibly relabelled (varchar as text); else null.
const SlotExpr* as_column(const Expr& expr);

/// True if the condition may hold for one and not for another of two texts that are equal under the
/// nondeterministic collation of a column that it reads. It may not be evaluated before such texts
/// are merged into one row or one partition. `merged_type` returns the type under which a slot's
/// values are merged; TypeId::none if they are not.
bool tells_equal_texts_apart(Expr& condition, const std::function<TypeId(Slot)>& merged_type);

/// Returns "<", "<=", "=", ">=", ">" of an order that both sides have; empty for other conditions.
std::string_view ordering_operator(const Expr& condition);

}  // namespace swizzle::sql
