#include "sql-lite-frontend/plpgsql/results.h"

#include <fmt/format.h>

#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql::plpgsql {

std::vector<TypeId> result_columns(const Frame& frame) {
  if (!frame.call->column_types.empty()) return frame.call->column_types;
  if (frame.call->result == TypeId::record) return {};
  return {frame.call->result};
}

void require_columns(const Frame& frame, const Shape& shape, std::span<const TypeId> expected,
                     std::string_view message) {
  const bool is_open = expected.empty() && frame.call->result == TypeId::record;
  if (is_open) return;
  SqlError error{sqlstate::datatype_mismatch, std::string{message}};
  if (shape.fields.size() != expected.size()) {
    throw std::move(error).with_detail(
        fmt::format("Number of returned columns ({}) does not match expected column count ({}).",
                    shape.fields.size(), expected.size()));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TypeId type = shape.fields[i].type;
    if (without_collation(type) == expected[i]) continue;
    throw std::move(error).with_detail(
        fmt::format("Returned type {} does not match expected type {} in column {}.",
                    format_type(type), format_type(expected[i]), i + 1));
  }
}

void give_row(Frame& frame, const Shape& shape, std::span<const Value> row) {
  const bool is_open = frame.call->column_types.empty() && frame.call->result == TypeId::record;
  if (!is_open) {
    static_cast<void>((*frame.take)(row));
    return;
  }
  const RowScope scope{frame.execution};
  std::vector<TypeId> types;
  std::vector<std::string> names;
  for (const Shape::Field& field : shape.fields) {
    types.push_back(field.type);
    names.push_back(field.name);
  }
  const Value record = make_record(frame.execution.row_arena, types, row, names);
  static_cast<void>((*frame.take)({&record, 1}));
}

void give_value(Frame& frame, const Value& value, TypeId type, std::string_view message) {
  const RoutineCall& call = *frame.call;
  if (call.column_types.empty()) {
    if (call.result == TypeId::record && sql::shape_of(type) != sql::Shape::record &&
        !value.is_null()) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "cannot return non-composite value from function returning composite type"};
    }
    if (is_composite(call.result) && sql::shape_of(type) != sql::Shape::record &&
        !value.is_null()) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "cannot return non-composite value from function returning composite type"};
    }
    const Value converted = frame.convert(value, type, call.result, kNoTypmod);
    static_cast<void>((*frame.take)({&converted, 1}));
    return;
  }
  std::vector<Value> row(call.column_types.size());
  if (!value.is_null()) {
    if (sql::shape_of(type) != sql::Shape::record) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "cannot return non-composite value from function returning composite type"};
    }
    const RecordView view{value};
    Shape shape;
    for (std::size_t i = 0; i < view.size(); ++i) shape.fields.push_back({"", view.type(i), -1});
    require_columns(frame, shape, call.column_types, message);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = view.field(i);
  }
  static_cast<void>((*frame.take)(row));
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
    const auto known = record.shape ? record.shape->find(field.name) : std::nullopt;
    if (!known) return;
    const Shape::Field& to = record.shape->fields[*known];
    return frame.set_field(field.record, *known, frame.convert(value, type, to.type, to.typmod));
  }
}

}  // namespace swizzle::sql::plpgsql
