#include "sql-lite-frontend/query/bound/slice_assignment.h"

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

SliceAssignment::SliceAssignment(TypeId array, std::vector<ExprPtr> operands,
                                 std::vector<Given> given)
    : OperandsExpr(array, kNoTypmod, std::move(operands)), given_(std::move(given)) {}

Value SliceAssignment::evaluate(Execution& execution) const {
  const Value array = operands_[0]->eval(execution);
  const Value source = operands_[1]->eval(execution);
  std::size_t next = 2;
  const auto bound = [&](bool is_given) -> std::optional<std::int32_t> {
    if (!is_given) return std::nullopt;
    const Value value = operands_[next++]->eval(execution);
    if (value.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "array subscript in assignment must not be null"};
    }
    return value.as_int4();
  };
  std::vector<SliceBound> bounds;
  for (const Given& given : given_) {
    SliceBound& dimension = bounds.emplace_back();
    dimension.lower = bound(given.lower);
    dimension.upper = bound(given.upper);
  }
  return array_set_slice(execution.row_arena, element_type(type()), array, bounds, source);
}

void SliceAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  std::size_t next = 2;
  for (const Given& given : given_) {
    printer.out += "[";
    if (given.lower) printer.print(*operands_[next++]);
    printer.out += ":";
    if (given.upper) printer.print(*operands_[next++]);
    printer.out += "]";
  }
  printer.out += " := ";
  printer.print(*operands_[1]);
}

}  // namespace swizzle::sql
