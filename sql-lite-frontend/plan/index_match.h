#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/plan/selectivity.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/inverted/element_class.h"

namespace swizzle::sql {

/// Condition in a form that an index can use: an operand that reads the table, and the other side
/// of the comparison, which does not read it.
struct IndexCondition {
  enum class Kind : std::uint8_t { equal, less, at_most, more, at_least, any_of, not_null };
  Kind kind = Kind::equal;
  Expr* operand = nullptr;
  ExprPtr* value = nullptr;  ///< null for not_null
};

/// `own` are the table's slots.
std::optional<IndexCondition> as_index_condition(Expr& condition, std::span<const Slot> own);

/// Condition in a form that an inverted index can use: on the elements of the operand's value.
struct ElementCondition {
  std::string_view op;
  OperandSide side = OperandSide::left;  ///< of the operand
  Expr* operand = nullptr;
  const Expr* value = nullptr;
};
std::optional<ElementCondition> as_element_condition(Expr& condition, std::span<const Slot> own);

/// Each branch of a disjunction over one operand: an equality, or one or two bounds.
struct Alternatives {
  Expr* operand = nullptr;
  std::vector<std::vector<IndexCondition>> branches;
};
std::optional<Alternatives> as_alternatives(Expr& condition, std::span<const Slot> own);

/// Answer to: do all rows that satisfy `given` satisfy `wanted`?
enum class Follows : std::uint8_t {
  no,
  by_values,  ///< perhaps: a parameter's value will say
  yes,
};
Follows follows(Expr& wanted, std::span<Expr* const> given, std::span<const Slot> own,
                const ColumnKnowledge& known);

/// True if `condition` cannot hold when all of `slots` are NULL.
bool rejects_nulls(const Expr& condition, std::span<const Slot> slots);

}  // namespace swizzle::sql
