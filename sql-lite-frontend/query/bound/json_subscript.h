#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// jsonb[a][b]. Operands: the value, then the subscripts, each an int4 or a text.
class JsonSubscript final : public OperandsExpr {
 public:
  explicit JsonSubscript(std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::jsonb, kNoTypmod, std::move(operands)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

/// The value with one part set: the column's value in `SET json[a][b] = x`. Operands: the value,
/// the part, then the subscripts.
class JsonPartAssignment final : public OperandsExpr {
 public:
  explicit JsonPartAssignment(std::vector<ExprPtr> operands)
      : OperandsExpr(TypeId::jsonb, kNoTypmod, std::move(operands)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

}  // namespace swizzle::sql
