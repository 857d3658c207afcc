#pragma once

#include <memory>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Row comparison, ROW(a, b) < ROW(c, d): compares field by field until two differ, and computes
/// each field once. NULL if a field that is needed for the decision is NULL.
class RowOrderExpr final : public OperandsExpr {
 public:
  /// Operators of one pair of fields. All are strict.
  struct Field {
    const Operator* asked;  ///< operator of the row comparison
    const Operator* less;   ///< "<" or ">": decides if the fields differ
    const Operator* weak;   ///< "<=" or ">="
    const Operator* equal;  ///< if the fields are equal, the next pair decides
  };
  /// Operands: first field of the left row, first of the right, second of the left, and so on.
  RowOrderExpr(std::vector<Field> fields, std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::bool_, kNoTypmod, std::move(operands)), fields_(std::move(fields)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] std::unique_ptr<RowOrderExpr> with_operands(std::vector<ExprPtr> operands) const;

  [[nodiscard]] std::string op_name() const { return std::string{fields_[0].asked->name}; }
  /// Returns the condition on the first fields that the row comparison implies and an index can
  /// use: a <= c. Null if those fields must not be computed twice (volatile), or if it was taken
  /// before.
  [[nodiscard]] ExprPtr take_lead();
  [[nodiscard]] bool has_lead() const noexcept { return has_lead_; }

 private:
  std::vector<Field> fields_;
  bool has_lead_ = false;
};

}  // namespace swizzle::sql
