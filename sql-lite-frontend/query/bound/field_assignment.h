#pragma once

#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/slice_assignment.h"

namespace swizzle::sql {

/// A row or an array with a part of it set: the column's value in `SET c.f[2].g = x`. The fields of
/// a NULL row are NULL.
class PartAssignment final : public OperandsExpr {
 public:
  /// One level down: to a field, or by subscripts to an element, a slice, a part of jsonb or a pair
  /// of hstore.
  struct Step {
    TypeId container = TypeId::none;                  ///< no domain
    TypeId part = TypeId::none;                       ///< perhaps one
    std::shared_ptr<const RowShape> shape = nullptr;  ///< null: an array
    std::size_t field = 0;
    std::size_t indices = 0;
    std::vector<SliceAssignment::Given> slice = {};  ///< with given bounds as subscripts; or empty
    bool begins_list = false;                        ///< of jsonb: the first is a number
  };
  PartAssignment(TypeId type, std::vector<Step> steps, ExprPtr whole, ExprPtr value,
                 std::vector<ExprPtr> indices);
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;

 private:
  Value changed(Execution& execution, std::size_t step, std::size_t index, const Value& whole,
                const Value& value) const;
  [[nodiscard]] std::vector<std::int32_t> subscripts(Execution& execution, const Step& step,
                                                     std::size_t index) const;
  Value with_slice(Execution& execution, const Step& step, std::size_t index, const Value& whole,
                   const Value& value) const;
  Value with_json_part(Execution& execution, const Step& step, std::size_t index,
                       const Value& whole, const Value& value) const;

  std::vector<Step> steps_;
};

}  // namespace swizzle::sql
