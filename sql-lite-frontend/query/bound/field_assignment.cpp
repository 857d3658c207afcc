#include "sql-lite-frontend/query/bound/field_assignment.h"

#include "sql-lite-frontend/query/bound/hstore_subscript.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/fixed_array.h"
#include "sql-lite-frontend/types/json/json_assignment.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
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
    // The binder has already converted the assigned value to the domain.
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
  if (step.container == TypeId::jsonb) return with_json_part(execution, step, index, whole, value);
  if (step.container == kHstoreType) {
    const Value key = operands_[index]->eval(execution);
    return hstore_with_pair(execution.row_arena, whole, key, value);
  }
  if (!step.slice.empty()) return with_slice(execution, step, index, whole, value);
  const std::vector<std::int32_t> at_element = subscripts(execution, step, index);
  if (shape_of(step.container) != Shape::array)
    return fixed_array_set(execution.row_arena, step.container, whole, at_element, value);
  const Value old = whole.is_null() || is_last ? Value::null() : ArrayView{whole}.at(at_element);
  const Value part = changed_part(index + step.indices, old);
  return array_set_element(execution.row_arena, element_type(step.container), whole, at_element,
                           part);
}

std::vector<std::int32_t> PartAssignment::subscripts(Execution& execution, const Step& step,
                                                     std::size_t index) const {
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < step.indices; ++i) {
    const Value subscript = operands_[index + i]->eval(execution);
    if (subscript.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "array subscript in assignment must not be null"};
    }
    all.push_back(subscript.as_int4());
  }
  return all;
}

Value PartAssignment::with_slice(Execution& execution, const Step& step, std::size_t index,
                                 const Value& whole, const Value& value) const {
  const std::vector<std::int32_t> given = subscripts(execution, step, index);
  auto next = given.begin();
  std::vector<SliceBound> bounds;
  for (const SliceAssignment::Given& dimension : step.slice) {
    SliceBound& bound = bounds.emplace_back();
    if (dimension.lower) bound.lower = *next++;
    if (dimension.upper) bound.upper = *next++;
  }
  return array_set_slice(execution.row_arena, element_type(step.container), whole, bounds, value);
}

Value PartAssignment::with_json_part(Execution& execution, const Step& step, std::size_t index,
                                     const Value& whole, const Value& value) const {
  std::vector<std::string> path;
  for (std::size_t i = 0; i < step.indices; ++i) {
    const Expr& subscript = *operands_[index + i];
    const Value at = subscript.eval(execution);
    if (at.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "jsonb subscript in assignment must not be null"};
    }
    path.push_back(subscript.type() == TypeId::int4 ? std::to_string(at.as_int4())
                                                    : std::string{at.as_text()});
  }
  return json_assign(execution.row_arena, whole, path, step.begins_list, value);
}

void PartAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  std::size_t next = 2;
  for (const Step& step : steps_) {
    if (step.shape) printer.out += "." + quote_identifier(step.shape->names[step.field]);
    for (const SliceAssignment::Given& given : step.slice) {
      printer.out += "[";
      if (given.lower) printer.print(*operands_[next++]);
      printer.out += ":";
      if (given.upper) printer.print(*operands_[next++]);
      printer.out += "]";
    }
    if (!step.slice.empty()) continue;
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
