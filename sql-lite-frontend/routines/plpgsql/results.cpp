#include "sql-lite-frontend/routines/plpgsql/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/routines/plpgsql/shapes.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql::plpgsql {

ResultColumns::ResultColumns(Frame& frame) : frame_(frame) {
  const RoutineCall& call = *frame.call;
  if (!call.column_types.empty()) {
    auto shape = std::make_shared<Shape>();
    for (std::size_t i = 0; i < call.column_types.size(); ++i) {
      shape->fields.push_back({"", call.column_types[i], call.column_typmod(i)});
    }
    shape_ = std::move(shape);
  } else if (is_composite(base_type(call.result))) {
    whole_ = base_type(call.result);
    const auto& promised = frame.program.row_types;
    const auto known = std::ranges::find(promised, whole_, &Program::RowType::type);
    STATEMENT_INVARIANT(known != promised.end());
    shape_ = known->shape ? known->shape : std::make_shared<Shape>();
  } else if (call.result != TypeId::record) {
    auto shape = std::make_shared<Shape>();
    shape->fields.push_back({"", call.result, kNoTypmod});
    shape_ = std::move(shape);
  }
}

void ResultColumns::require(const Shape& given, std::string_view message) const {
  if (!shape_) return;
  SqlError error{sqlstate::datatype_mismatch, std::string{message}};
  if (given.fields.size() != shape_->fields.size()) {
    throw std::move(error).with_detail(
        fmt::format("Number of returned columns ({}) does not match expected column count ({}).",
                    given.fields.size(), shape_->fields.size()));
  }
  for (std::size_t i = 0; i < given.fields.size(); ++i) {
    const Shape::Field& is = given.fields[i];
    const Shape::Field& wanted = shape_->fields[i];
    const bool has_modifier = wanted.typmod == kNoTypmod || is.typmod == wanted.typmod;
    if (without_collation(is.type) == wanted.type && has_modifier) continue;
    throw std::move(error).with_detail(fmt::format(
        "Returned type {} does not match expected type {} in column \"{}\" (position {}).",
        format_type(is.type, is.typmod), format_type(wanted.type, wanted.typmod), wanted.name,
        i + 1));
  }
}

void ResultColumns::give(const Shape& given, std::span<const Value> row) const {
  if (shape_ && whole_ == TypeId::none) {
    static_cast<void>((*frame_.take)(row));
    return;
  }
  const RowScope scope{frame_.execution};
  std::vector<TypeId> types;
  std::vector<std::string> names;
  for (const Shape::Field& field : (shape_ ? *shape_ : given).fields) {
    types.push_back(field.type);
    if (!shape_) names.push_back(field.name);
  }
  give_whole(make_record(frame_.execution.row_arena, types, row, names));
}

void ResultColumns::give_whole(Value value) const {
  const TypeId result = frame_.call->result;
  if (is_domain(result)) {
    value = enter_domain(frame_.execution.functions, result, value, Coercion::assignment);
  }
  static_cast<void>((*frame_.take)({&value, 1}));
}

void give_value(Frame& frame, const Value& value, const Given& given, std::string_view message) {
  const RoutineCall& call = *frame.call;
  const TypeId result = base_type(call.result);
  const bool has_row = !call.column_types.empty() || result == TypeId::record ||
                       sql::shape_of(result) == sql::Shape::record;
  if (has_row && !value.is_null() && sql::shape_of(given.type) != sql::Shape::record) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "cannot return non-composite value from function returning composite type"};
  }
  if (call.column_types.empty() && !is_composite(result)) {
    const Value converted = frame.convert(value, given.type, call.result, kNoTypmod);
    static_cast<void>((*frame.take)({&converted, 1}));
    return;
  }
  const ResultColumns columns{frame};
  if (call.column_types.empty() && (value.is_null() || base_type(given.type) == result)) {
    return columns.give_whole(value);
  }
  std::vector<Value> row(call.column_types.size());
  Shape shape;
  if (!value.is_null()) {
    const RecordView view{value};
    const auto known = given.shape ? nullptr : frame.session.names.row_shape(base_type(given.type));
    const ShapePtr typed = given.shape ? given.shape : known ? shape_of(*known) : nullptr;
    const bool is_typed = typed && typed->fields.size() == view.size();
    row.resize(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) {
      shape.fields.push_back({"", view.type(i), is_typed ? typed->fields[i].typmod : kNoTypmod});
      row[i] = view.field(i);
    }
    columns.require(shape, message);
  }
  columns.give(shape, row);
}

void give_outputs(Frame& frame) {
  std::vector<Value> row;
  for (const std::size_t output : frame.program.outputs) row.push_back(frame.value_of(output));
  static_cast<void>((*frame.take)(row));
}

void assign_place(Frame& frame, std::size_t place, const Value& value, TypeId type) {
  for (std::size_t i = 0; i < frame.program.variables.size(); ++i) {
    const Variable& variable = frame.program.variables[i];
    if (variable.kind == Variable::Kind::scalar && variable.place == place) {
      return frame.assign(i, value, type);
    }
  }
  for (const FieldPlace& field : frame.program.fields) {
    if (field.place != place) continue;
    const Record& record = frame.records[field.record];
    const auto known = record.shape ? record.shape->find(field.name, field.before) : std::nullopt;
    if (!known) return;
    const Shape::Field& to = record.shape->fields[*known];
    return frame.set_field(field.record, *known, frame.convert(value, type, to.type, to.typmod));
  }
}

}  // namespace swizzle::sql::plpgsql
