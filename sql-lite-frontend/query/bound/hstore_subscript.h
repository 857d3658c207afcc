#pragma once

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/extension/extension_types.h"

namespace swizzle::sql {

/// Subscript of an hstore, h[key]: the value of the key.
class HstoreSubscript final : public OperandsExpr {
 public:
  HstoreSubscript(ExprPtr whole, ExprPtr key) : OperandsExpr(TypeId::text, kNoTypmod, {}) {
    operands_.push_back(std::move(whole));
    operands_.push_back(std::move(key));
  }
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

/// Returns `whole` with the key set to `value`. Throws 22004 if the key is NULL.
Value hstore_with_pair(Arena& arena, const Value& whole, const Value& key, const Value& value);

/// New value of the column in `SET hstore[key] = x`. Operands: the old hstore, the value, the key.
class HstorePairAssignment final : public OperandsExpr {
 public:
  explicit HstorePairAssignment(std::vector<ExprPtr> operands)
      : OperandsExpr(kHstoreType, kNoTypmod, std::move(operands)) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
};

}  // namespace swizzle::sql
