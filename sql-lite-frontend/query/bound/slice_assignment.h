#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// The array with a slice of it set: the column's value in `SET a[i:j] = x`.
class SliceAssignment final : public OperandsExpr {
 public:
  /// Bounds of a dimension that the statement gives; the others are the array's own.
  struct Given {
    bool lower = true;
    bool upper = true;
  };
  /// Operands: the array, the array of new elements, then each dimension's given bounds.
  SliceAssignment(TypeId array, std::vector<ExprPtr> operands, std::vector<Given> given);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  std::vector<Given> given_;
};

}  // namespace swizzle::sql
