#include "sql-lite-frontend/bound/field_assignment.h"

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

PartAssignment::PartAssignment(TypeId type, std::vector<Step> steps, ExprPtr whole, ExprPtr value,
                               std::vector<ExprPtr> indices)
    : OperandsExpr(type, kNoTypmod, {}), steps_(std::move(steps)) {
  operands_.push_back(std::move(whole));
  operands_.push_back(std::move(value));
  for (ExprPtr& index : indices) operands_.push_back(std::move(index));
}

Value PartAssignment::evaluate(Execution& execution) const {
  constexpr std::size_t kFirstIndex = 2;
  return changed(execution, 0, kFirstIndex, operands_[0]->eval(execution),
                 operands_[1]->eval(execution));
}

Value PartAssignment::changed(Execution& execution, std::size_t at, std::size_t index,
                              const Value& whole, const Value& value) const {
  check_stack();
  if (at == steps_.size()) return value;
  const Step& step = steps_[at];
  const bool is_last = at + 1 == steps_.size();
  const auto changed_part = [&](std::size_t next_index, const Value& part) {
    const Value result = changed(execution, at + 1, next_index, part, value);
    // What was assigned is one of the domain already.
    return is_domain(step.part) && !is_last
               ? enter_domain(execution.functions, step.part, result, Coercion::assignment)
               : result;
  };
  if (step.shape) {
    std::vector<Value> fields(step.shape->types.size());
    if (!whole.is_null()) {
      const RecordView view{whole};
      for (std::size_t i = 0; i < fields.size() && i < view.size(); ++i) fields[i] = view.field(i);
    }
    fields[step.field] = changed_part(index, fields[step.field]);
    return make_record(execution.row_arena, step.shape->types, fields);
  }
  std::vector<std::int32_t> subscripts;
  for (std::size_t i = 0; i < step.indices; ++i) {
    const Value subscript = operands_[index + i]->eval(execution);
    if (subscript.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "array subscript in assignment must not be null"};
    }
    subscripts.push_back(subscript.as_int4());
  }
  const Value old = whole.is_null() || is_last ? Value::null() : ArrayView{whole}.at(subscripts);
  const Value part = changed_part(index + step.indices, old);
  return array_set_element(execution.row_arena, element_type(step.container), whole, subscripts,
                           part);
}

void PartAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  std::size_t next = 2;
  for (const Step& step : steps_) {
    if (step.shape) printer.out += "." + quote_identifier(step.shape->names[step.field]);
    for (std::size_t i = 0; i < step.indices; ++i) {
      printer.out += "[";
      printer.print(*operands_[next++]);
      printer.out += "]";
    }
  }
  printer.out += " := ";
  printer.print(*operands_[1]);
}

}  // namespace swizzle::sql
