#include <algorithm>
#include <array>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/types_of_call.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/fixed_array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Rows are counted by their scans, so count only the work of long expressions here.
void count_operands(std::size_t operands) {
  constexpr std::size_t kMany = 64;
  constexpr std::size_t kWorkOfOperand = 15;
  if (operands > kMany) [[unlikely]]
    yield_point(operands * kWorkOfOperand);
}

/// Evaluated operands, on the stack while they are few.
class Operands {
 public:
  Operands(std::span<const ExprPtr> exprs, Execution& execution) : size_(exprs.size()) {
    count_operands(size_);
    values_ =
        size_ <= inline_.size() ? inline_.data() : execution.row_arena.allocate_array<Value>(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      values_[i] = exprs[i]->eval(execution);
      any_null_ |= values_[i].is_null();
    }
  }
  [[nodiscard]] bool any_null() const noexcept { return any_null_; }
  [[nodiscard]] std::span<const Value> values() const noexcept { return {values_, size_}; }

 private:
  std::array<Value, 4> inline_;
  Value* values_;
  std::size_t size_;
  bool any_null_ = false;
};

Value call_binary(const Function& function, Execution& execution, const Value& left,
                  const Value& right) {
  const std::array<Value, 2> arguments{left, right};
  if (function.strict && (left.is_null() || right.is_null())) return Value::null();
  return call_function(function, execution.functions, arguments);
}

}  // namespace

namespace {

/// True if a NULLIF's two sides are equal constants. Pre: `left` is its first.
bool is_equal_constant(const ConstantExpr& left, const Expr& equality) {
  const auto* call = dynamic_cast<const FunctionExpr*>(&equality);
  if (call == nullptr || call->op() == nullptr || call->operands().size() != 2) return false;
  const Operator& op = *call->op();
  const auto* right = dynamic_cast<const ConstantExpr*>(call->operands()[1].get());
  if (right == nullptr || right->value().is_null() || left.value().is_null()) return false;
  if (op.left != op.right || without_collation(left.type()) != without_collation(right->type()))
    return false;
  const CompareFunction compare = compare_function(left.type());
  return compare != nullptr && compare(left.value(), right->value()) == 0;
}

bool is_null_constant(const Expr* expr) {
  while (const auto* cast = dynamic_cast<const CastExpr*>(expr)) expr = cast->operands()[0].get();
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(expr))
    return constant->value().is_null();
  if (const auto* comparison = dynamic_cast<const NullIfExpr*>(expr)) {
    const Expr* const value = comparison->operands()[0].get();
    const auto* constant = dynamic_cast<const ConstantExpr*>(value);
    return constant != nullptr ? constant->value().is_null() ||
                                     is_equal_constant(*constant, *comparison->operands()[1])
                               : is_null_constant(value);
  }
  const auto* call = dynamic_cast<const FunctionExpr*>(expr);
  return call != nullptr && call->is_always_null();
}

}  // namespace

FunctionExpr::FunctionExpr(const Function& function, const Operator* op, TypeId result,
                           std::vector<ExprPtr> operands)
    : OperandsExpr(result, kNoTypmod, std::move(operands)), function_(function), op_(op) {
  for (const ExprPtr& operand : operands_) {
    operand_types_.push_back(function.takes_collation ? operand->type()
                                                      : without_collation(operand->type()));
    always_null_ |= function.strict && is_null_constant(operand.get());
  }
}

Value FunctionExpr::evaluate(Execution& execution) const {
  if (always_null_) return Value::null();
  // Most operators have two operands: no list whose length only the plan knows.
  const auto call = [&](std::span<const Value> values) {
    execution.functions.call = {operand_types_, type(), variadic_array_};
    return call_function(function_, execution.functions, values);
  };
  if (operands_.size() == 2) {
    const std::array values{operands_[0]->eval(execution), operands_[1]->eval(execution)};
    const bool any_null = values[0].is_null() || values[1].is_null();
    if (any_null && function_.strict) return Value::null();
    // Only values with bytes can be long.
    if (!values[0].is_bytes() && !values[1].is_bytes()) {
      execution.functions.call = {operand_types_, type(), variadic_array_};
      return function_.scalar(execution.functions, values);
    }
    return call(values);
  }
  if (operands_.size() == 1) {
    const Value value = operands_[0]->eval(execution);
    return value.is_null() && function_.strict ? Value::null() : call({&value, 1});
  }
  const Operands operands{operands_, execution};
  return operands.any_null() && function_.strict ? Value::null() : call(operands.values());
}

Value SessionFunctionExpr::evaluate(Execution& execution) const {
  const Operands operands{operands_, execution};
  if (operands.any_null() && function_->strict) return Value::null();
  return function_->session(execution, operands.values());
}

CastExpr::CastExpr(const Cast& cast, CastForm form, ExprPtr operand)
    : OperandsExpr(cast.target, cast.typmod, {}), cast_(cast), form_(form) {
  operands_.push_back(std::move(operand));
}

Value CastExpr::evaluate(Execution& execution) const {
  const Value value = operands_[0]->eval(execution);
  if (cast_.method == CastMethod::relabel) return value;
  return cast_value(execution.functions, cast_, value);
}

VirtualColumnExpr::VirtualColumnExpr(std::unique_ptr<SlotExpr> column, ExprPtr value)
    : OperandsExpr(column->type(), column->typmod(), {}), column_(std::move(column)) {
  operands_.push_back(std::move(value));
}

LengthExpr::LengthExpr(std::int32_t typmod, Coercion coercion, ExprPtr operand)
    : OperandsExpr(operand->type(), typmod, {}), coercion_(coercion) {
  operands_.push_back(std::move(operand));
}

Value LengthExpr::evaluate(Execution& execution) const {
  const Value value = operands_[0]->eval(execution);
  if (value.is_null()) return value;
  return coerce_length(execution.functions, type(), typmod(), value, coercion_);
}

CollateExpr::CollateExpr(Oid collation, std::string name, ExprPtr operand)
    : OperandsExpr(operand->type(), operand->typmod(), {}),
      collation_(collation),
      name_(std::move(name)) {
  set_collation(collation, true);
  operands_.push_back(std::move(operand));
}

DomainExpr::DomainExpr(TypeId domain, CastForm form, ExprPtr operand)
    : OperandsExpr(domain, kNoTypmod, {}), form_(form) {
  operands_.push_back(std::move(operand));
}

Value DomainExpr::evaluate(Execution& execution) const {
  const Coercion coercion =
      form_ == CastForm::explicit_cast ? Coercion::explicit_cast : Coercion::assignment;
  return enter_domain(execution.functions, type(), operands_[0]->eval(execution), coercion);
}

Value BooleanExpr::evaluate(Execution& execution) const {
  if (kind_ == Kind::negation) {
    const Value value = operands_[0]->eval(execution);
    return value.is_null() ? value : Value::from_bool(!value.as_bool());
  }
  const bool decisive = kind_ == Kind::disjunction;
  bool unknown = false;
  count_operands(operands_.size());
  for (const ExprPtr& operand : operands_) {
    const Value value = operand->eval(execution);
    if (value.is_null()) {
      unknown = true;
    } else if (value.as_bool() == decisive) {
      return Value::from_bool(decisive);
    }
  }
  return unknown ? Value::null() : Value::from_bool(!decisive);
}

TestExpr::TestExpr(Kind kind, ExprPtr operand)
    : OperandsExpr(TypeId::bool_, kNoTypmod, {}), kind_(kind) {
  operands_.push_back(std::move(operand));
}

namespace {

/// A row IS NULL when all its fields are, and IS NOT NULL when none is.
bool row_is_null(const Value& row, bool wanted) {
  const RecordView record{row};
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (record.field(i).is_null() != wanted) return false;
  }
  return true;
}

}  // namespace

Value TestExpr::evaluate(Execution& execution) const {
  const Value value = operands_[0]->eval(execution);
  const bool null = value.is_null();
  if (!null && shape_of(operands_[0]->type()) == Shape::record) {
    if (kind_ == Kind::is_null) return Value::from_bool(row_is_null(value, true));
    if (kind_ == Kind::is_not_null) return Value::from_bool(row_is_null(value, false));
  }
  switch (kind_) {
    case Kind::is_null:
    case Kind::is_unknown:
      return Value::from_bool(null);
    case Kind::is_not_null:
    case Kind::is_not_unknown:
      return Value::from_bool(!null);
    case Kind::is_true:
      return Value::from_bool(!null && value.as_bool());
    case Kind::is_not_true:
      return Value::from_bool(null || !value.as_bool());
    case Kind::is_false:
      return Value::from_bool(!null && !value.as_bool());
    case Kind::is_not_false:
      return Value::from_bool(null || value.as_bool());
  }
  return Value::null();
}

Value DistinctExpr::evaluate(Execution& execution) const {
  const Value left = operands_[0]->eval(execution);
  const Value right = operands_[1]->eval(execution);
  bool equal = left.is_null() && right.is_null();
  if (!left.is_null() && !right.is_null()) {
    // For functions that need the collation.
    const std::array types{operands_[0]->type(), operands_[1]->type()};
    const TypesOfCall told{execution.functions, types};
    equal = call_binary(equality_, execution, left, right).as_bool();
  }
  return Value::from_bool(equal == (kind_ == Kind::not_distinct));
}

CaseExpr::CaseExpr(TypeId type, std::vector<ExprPtr> operands, ExprPtr subject, Slot subject_slot)
    : OperandsExpr(type, kNoTypmod, std::move(operands)),
      subject_(std::move(subject)),
      subject_slot_(subject_slot) {}

Value CaseExpr::evaluate(Execution& execution) const {
  count_operands(operands_.size());
  if (subject_) execution.slots[subject_slot_] = subject_->eval(execution);
  std::size_t i = 0;
  for (; i + 1 < operands_.size(); i += 2) {
    if (holds(*operands_[i], execution)) return operands_[i + 1]->eval(execution);
  }
  return i < operands_.size() ? operands_[i]->eval(execution) : Value::null();
}

void CaseExpr::for_each_operand(const std::function<void(ExprPtr&)>& visit) {
  if (subject_) visit(subject_);
  OperandsExpr::for_each_operand(visit);
}

Value CoalesceExpr::evaluate(Execution& execution) const {
  count_operands(operands_.size());
  for (const ExprPtr& operand : operands_) {
    const Value value = operand->eval(execution);
    if (!value.is_null()) return value;
  }
  return Value::null();
}

NullIfExpr::NullIfExpr(TypeId type, ExprPtr value, ExprPtr equality, Slot slot)
    : OperandsExpr(type, kNoTypmod, {}), slot_(slot) {
  operands_.push_back(std::move(value));
  operands_.push_back(std::move(equality));
}

Value NullIfExpr::evaluate(Execution& execution) const {
  const Value value = operands_[0]->eval(execution);
  if (value.is_null() && is_null_constant(operands_[0].get())) return value;
  execution.slots[slot_] = value;
  return holds(*operands_[1], execution) ? Value::null() : value;
}

GreatestExpr::GreatestExpr(Kind kind, TypeId type, std::vector<ExprPtr> operands)
    : OperandsExpr(type, kNoTypmod, std::move(operands)),
      kind_(kind),
      compare_(compare_function(type)) {}

Value GreatestExpr::evaluate(Execution& execution) const {
  Value best;
  for (const ExprPtr& operand : operands_) {
    const Value value = operand->eval(execution);
    if (value.is_null()) continue;
    if (best.is_null()) {
      best = value;
      continue;
    }
    const int order = compare_(value, best);
    if (kind_ == Kind::greatest ? order > 0 : order < 0) best = value;
  }
  return best;
}

Value ArrayExpr::evaluate(Execution& execution) const {
  const Operands operands{operands_, execution};
  const TypeId element = element_type(type());
  if (kind_ == Kind::elements) return make_array(execution.row_arena, element, operands.values());
  return array_of_arrays(execution.row_arena, element, operands.values());
}

RowExpr::RowExpr(std::vector<ExprPtr> operands)
    : OperandsExpr(TypeId::record, kNoTypmod, std::move(operands)) {
  for (const ExprPtr& operand : operands_) types_.push_back(operand->type());
}

Value RowExpr::evaluate(Execution& execution) const {
  const Operands operands{operands_, execution};
  if (is_absent(operands.values())) return Value::null();
  const std::span<const std::string> shown{names};
  return make_record(execution.row_arena, types_, operands.values(),
                     tells_names ? shown : shown.first(0));
}

bool RowExpr::is_absent(std::span<const Value> fields) const {
  switch (absence) {
    case Absence::never:
      return false;
    case Absence::field_is_null:
      return fields[telling_field].is_null();
    case Absence::all_are_null:
      return std::ranges::all_of(fields, &Value::is_null);
  }
  return false;
}

SubscriptExpr::SubscriptExpr(TypeId type, Kind kind, std::vector<ExprPtr> operands)
    : OperandsExpr(type, kNoTypmod, std::move(operands)), kind_(kind) {}

namespace {

/// A name has 64 letters; those behind its end are zero.
Value letter_at(const Value& name, std::int32_t index) {
  constexpr std::int32_t kNameBytes = 64;
  if (index < 0 || index >= kNameBytes) return Value::null();
  const std::string_view text = name.as_text();
  const auto at = static_cast<std::size_t>(index);
  return Value::from_int(at < text.size() ? text[at] : 0);
}

}  // namespace

Value SubscriptExpr::evaluate(Execution& execution) const {
  const Operands operands{operands_, execution};
  const auto values = operands.values();
  if (values[0].is_null()) return Value::null();
  if (kind_ == Kind::element) {
    if (operands.any_null()) return Value::null();
    if (operands_[0]->type() == TypeId::name) return letter_at(values[0], values[1].as_int4());
    std::array<std::int32_t, kMaxArrayDimensions> subscripts{};
    const std::size_t count = std::min(values.size() - 1, subscripts.size());
    for (std::size_t i = 0; i < count; ++i) subscripts[i] = values[i + 1].as_int4();
    if (shape_of(operands_[0]->type()) != Shape::array) {
      return fixed_array_at(operands_[0]->type(), values[0], std::span{subscripts}.first(count));
    }
    return ArrayView{values[0]}.at(std::span{subscripts}.first(count));
  }
  std::vector<SliceBound> bounds;
  for (std::size_t i = 1; i < values.size(); ++i) {
    // An omitted bound is an untyped NULL; a given one that is NULL makes the slice NULL.
    if (values[i].is_null() && operands_[i]->type() != TypeId::unknown) return Value::null();
  }
  for (std::size_t i = 1; i + 1 < values.size(); i += 2) {
    SliceBound bound;
    if (!values[i].is_null()) bound.lower = values[i].as_int4();
    if (!values[i + 1].is_null()) bound.upper = values[i + 1].as_int4();
    bounds.push_back(bound);
  }
  return array_slice(execution.row_arena, values[0], bounds);
}

ElementAssignment::ElementAssignment(TypeId array, std::vector<ExprPtr> operands)
    : OperandsExpr(array, kNoTypmod, std::move(operands)) {}

Value ElementAssignment::evaluate(Execution& execution) const {
  const Operands operands{operands_, execution};
  const auto values = operands.values();
  std::vector<std::int32_t> subscripts;
  for (const Value& subscript : values.subspan(2)) {
    if (subscript.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "array subscript in assignment must not be null"};
    }
    subscripts.push_back(subscript.as_int4());
  }
  if (shape_of(type()) != Shape::array) {
    return fixed_array_set(execution.row_arena, type(), values[0], subscripts, values[1]);
  }
  return array_set_element(execution.row_arena, element_type(type()), values[0], subscripts,
                           values[1]);
}

FieldExpr::FieldExpr(TypeId type, ExprPtr record, std::size_t field, std::string name)
    : OperandsExpr(type, kNoTypmod, {}), field_(field), name_(std::move(name)) {
  operands_.push_back(std::move(record));
}

Value FieldExpr::evaluate(Execution& execution) const {
  const Value record = operands_[0]->eval(execution);
  if (record.is_null()) return record;
  const RecordView view{record};
  return field_ < view.size() ? view.field(field_) : Value::null();
}

}  // namespace swizzle::sql
