#pragma once

#include <memory>
#include <vector>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// ROW(a, b) < ROW(c, d): field by field until two differ, each computed once. NULL where a field
/// that is looked at is.
class RowOrderExpr final : public OperandsExpr {
 public:
  /// Comparisons of the fields in one place. All are strict.
  struct Field {
    const Operator* asked;  ///< the operator of the whole
    const Operator* less;   ///< "<" or ">": what decides where they differ
    const Operator* weak;   ///< "<=" or ">="
    const Operator* equal;  ///< then the next ones decide
  };
  /// Operands: a field of the left row, the one of the right, the next of the left …
  RowOrderExpr(std::vector<Field> fields, std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::bool_, kNoTypmod, std::move(operands)), fields_(std::move(fields)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] std::unique_ptr<RowOrderExpr> with_operands(std::vector<ExprPtr> operands) const;

  [[nodiscard]] std::string op_name() const { return std::string{fields_[0].asked->name}; }
  /// Returns the condition that follows for the first fields alone and that an index can answer: a
  /// <= c. Null if those fields must not be computed twice, or if the condition was taken before.
  [[nodiscard]] ExprPtr take_lead();
  [[nodiscard]] bool has_lead() const noexcept { return has_lead_; }

 private:
  std::vector<Field> fields_;
  bool has_lead_ = false;
};

}  // namespace swizzle::sql
