#include "sql-lite-frontend/routines/plpgsql/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql::plpgsql {

Caught::Caught(const SqlError& error)
    : state(error.state()),
      message(error.error().message()),
      detail(error.error().detail()),
      hint(error.error().hint()),
      fields(error.fields()) {}

SqlError Caught::as_error() const {
  SqlError error = SqlError{state, message}.with_detail(detail).with_hint(hint);
  error.fields() = fields;
  return error;
}

Frame::Frame(Program& of, StatementContext& in, const Routine& of_routine)
    : program(of),
      session(in),
      routine(of_routine),
      execution(in, in.session_context),
      records(of.record_count),
      is_volatile(of_routine.volatility == 'v') {
  execution.row_arena.count_in(execution.memory);
  execution.names = &in.names;
  for (Record& record : records) {
    record.arena.count_in(execution.memory);
    record.spare.count_in(execution.memory);
  }
  for (const Variable& variable : of.variables) {
    if (variable.kind == Variable::Kind::record) records[variable.place].declared = variable.shape;
  }
  for (std::size_t i = 0; i < records.size(); ++i) forget_record(i);
  result_arena_.count_in(execution.memory);
  make_room();
}

void Frame::make_room() {
  if (values.size() < program.value_count) {
    const std::size_t before = values.size();
    values.resize(program.value_count);
    cells_.resize(program.value_count);
    for (const FieldPlace& field : program.fields) {
      if (field.place < before) continue;
      const Record& record = records[field.record];
      const auto known = record.shape ? record.shape->find(field.name, field.before) : std::nullopt;
      if (known) values[field.place] = record.values[*known];
    }
  }
  if (execution.slots.size() < program.slot_count) execution.slots.resize(program.slot_count);
}

void Frame::reset() {
  execution.row_arena.reset();
  execution.release_kept();
  std::ranges::fill(values, Value::null());
  for (std::size_t i = 0; i < records.size(); ++i) {
    forget_record(i);
    clear_for_next_run(records[i].arena);
    clear_for_next_run(records[i].spare);
  }
  if (held_bytes_ > kKeptByStep) {
    for (Cell& cell : cells_) cell = {};
    held_bytes_ = 0;
    share_.lower(0);
  }
  at = nullptr;
  line = 0;
  phase = {};
  label.clear();
  row_count = 0;
  has_result = false;
  returned_record.reset();
  caught.clear();
  context_told = false;
}

void Frame::set_bytes(std::size_t place, Value value) {
  Cell& cell = cells_[place];
  const Bytes bytes = value.as_bytes();
  if (bytes.size() > cell.capacity) {
    const std::size_t capacity = std::max(bytes.size() + bytes.size() / 4, std::size_t{32});
    share_.set(execution.memory, held_bytes_ + capacity - cell.capacity);
    // The new value may lie in the memory that is replaced.
    std::unique_ptr<std::byte[]> memory{new std::byte[capacity]};
    std::memcpy(memory.get(), bytes.data(), bytes.size());
    held_bytes_ += capacity - cell.capacity;
    cell.memory = std::move(memory);
    cell.capacity = capacity;
  } else if (!bytes.empty()) {
    std::memmove(cell.memory.get(), bytes.data(), bytes.size());
  }
  values[place] = Value::from_bytes({cell.memory.get(), bytes.size()});
}

/// Copies the record's named fields to their own places.
void Frame::show_fields(std::size_t record) {
  const Record& of = records[record];
  for (FieldPlace& field : program.fields) {
    if (field.record != record || field.place >= values.size()) continue;
    const auto known = field.position.in(of.shape, field.name, field.before);
    values[field.place] = known ? of.values[*known] : Value::null();
  }
}

void Frame::set_record(std::size_t record, const ShapePtr& shape, std::span<const Value> row) {
  Record& to = records[record];
  // The row may be this record's own.
  to.spare.reset();
  to.values.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) to.values[i] = row[i].copy_to(to.spare);
  std::swap(to.arena, to.spare);
  to.compacted_at = std::max(4 * to.arena.reserved_bytes(), Record::kCompactedAt);
  if (to.shape != shape) to.shape = shape;
  to.is_null = false;
  show_fields(record);
}

void Frame::lend_record(std::size_t record, const ShapePtr& shape, std::span<const Value> row) {
  Record& to = records[record];
  to.values.assign(row.begin(), row.end());
  to.arena.reset();
  if (to.shape != shape) to.shape = shape;
  to.is_null = false;
  show_fields(record);
}

void Frame::set_field(std::size_t record, std::size_t field, Value value) {
  Record& to = records[record];
  if (to.is_null || to.arena.reserved_bytes() >= to.compacted_at) {
    std::vector<Value> row = to.values;
    row[field] = value;
    return set_record(record, ShapePtr{to.shape}, row);
  }
  to.values[field] = value.copy_to(to.arena);
  for (FieldPlace& each : program.fields) {
    if (each.record != record || each.place >= values.size()) continue;
    if (each.position.in(to.shape, each.name, each.before) == field)
      values[each.place] = to.values[field];
  }
}

void Frame::forget_record(std::size_t record) {
  Record& to = records[record];
  if (to.shape != to.declared) to.shape = to.declared;
  to.is_null = true;
  to.values.assign(to.shape ? to.shape->fields.size() : 0, Value::null());
  to.arena.reset();
  for (const FieldPlace& field : program.fields) {
    if (field.record == record && field.place < values.size()) values[field.place] = Value::null();
  }
}

namespace {

/// A row's fields as those of a composite type.
Value fitted_row(Frame& frame, const Value& value, const RowShape& shape) {
  const RecordView view{value};
  if (view.size() != shape.types.size()) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "returned record type does not match expected record type"}
        .with_detail(fmt::format(
            "Number of returned columns ({}) does not match expected column count ({}).",
            view.size(), shape.types.size()));
  }
  std::vector<Value> fields;
  for (std::size_t i = 0; i < shape.types.size(); ++i) {
    fields.push_back(frame.convert(view.field(i), view.type(i), shape.types[i], shape.typmods[i]));
  }
  return make_record(frame.execution.row_arena, shape.types, fields);
}

}  // namespace

Value Frame::convert(const Value& value, TypeId from, TypeId to, std::int32_t typmod) {
  if (from == to && typmod == kNoTypmod) return value;
  if (from != to && is_domain(to)) {
    return enter_domain(execution.functions, to, convert(value, from, base_type(to), kNoTypmod),
                        Coercion::assignment);
  }
  if (value.is_null()) return value;
  if (is_composite(to) && from != to && sql::shape_of(from) == sql::Shape::record) {
    if (const auto shape = session.names.row_shape(to)) return fitted_row(*this, value, *shape);
  }
  Value converted = value;
  if (from != to && to != TypeId::record && to != TypeId::none) {
    const auto cast = find_cast(from, to, CastContext::assignment);
    if (!cast) {
      return input_text(execution.functions, to, typmod, to_text(execution.functions, from, value));
    }
    if (cast->method != CastMethod::relabel) {
      converted = cast_value(execution.functions, *cast, value);
    }
  }
  if (typmod != kNoTypmod && needs_length_coercion(to, typmod)) {
    converted = coerce_length(execution.functions, to, typmod, converted, Coercion::assignment);
  }
  return converted;
}

void Frame::assign(std::size_t index, Value value, TypeId type) {
  Variable& variable = program.variables[index];
  if (variable.takes_at_once(type) && !value.is_null()) [[likely]]
    return set_place(variable.place, value);
  if (variable.kind == Variable::Kind::record) {
    // Called by assign_row() for a target that is no record.
    check_stack();
    if (value.is_null()) {
      if (variable.not_null) {
        throw_error(sqlstate::null_value_not_allowed,
                    "null value cannot be assigned to variable \"{}\" declared NOT NULL",
                    variable.name);
      }
      forget_record(variable.place);
      return;
    }
    if (sql::shape_of(type) != sql::Shape::record) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "cannot assign non-composite value to a record variable"};
    }
    const RecordView view{value};
    std::vector<Value> row;
    auto shape = std::make_shared<Shape>();
    std::vector<std::string> names = view.names();
    if (const auto known = session.names.row_shape(type);
        known && known->names.size() == names.size()) {
      names = known->names;
    }
    for (std::size_t i = 0; i < view.size(); ++i) {
      row.push_back(view.field(i));
      shape->fields.push_back({names[i], view.type(i), kNoTypmod});
    }
    Targets whole;
    whole.push_back({.variable = index});
    assign_row(whole, shape, row);
    return;
  }
  if (variable.type == TypeId::none) variable.type = type;
  if (value.is_null()) {
    if (variable.not_null) {
      throw_error(sqlstate::null_value_not_allowed,
                  "null value cannot be assigned to variable \"{}\" declared NOT NULL",
                  variable.name);
    }
    values[variable.place] = convert(value, TypeId::unknown, variable.type, variable.typmod);
    return;
  }
  set_place(variable.place, convert(value, type, variable.type, variable.typmod));
}

void Frame::assign(const Target& target, Value value, TypeId type) {
  if (target.part) {
    const Value whole = target.part->put(*this, value, type);
    return assign(target.variable, whole, target.part->type());
  }
  if (target.field.empty()) [[likely]] {
    return assign(target.variable, value, type);
  }
  const Variable& variable = program.variables[target.variable];
  const Record& record = records[variable.place];
  if (!record.shape) {
    throw sql_error(sqlstate::object_not_in_prerequisite_state, "record \"{}\" is not assigned yet",
                    variable.name)
        .with_detail("The tuple structure of a not-yet-assigned record is indeterminate.");
  }
  const auto found = target.position.in(record.shape, target.field);
  if (!found) {
    throw_error(sqlstate::undefined_column, "record \"{}\" has no field \"{}\"", variable.name,
                target.field);
  }
  const Shape::Field& field = record.shape->fields[*found];
  set_field(variable.place, *found, convert(value, type, field.type, field.typmod));
}

/// A variable that is one value of a composite type: its fields become the row's columns.
bool Frame::assign_composite(const Target& target, const Shape& shape, std::span<const Value> row) {
  const Variable& variable = program.variables[target.variable];
  if (variable.kind != Variable::Kind::scalar || target.part) return false;
  const TypeId type = base_type(variable.type);
  const auto fields = is_composite(type) ? session.names.row_shape(type) : nullptr;
  if (!fields) return false;
  std::vector<Value> fitted(fields->types.size());
  for (std::size_t i = 0; i < fitted.size() && i < row.size(); ++i) {
    fitted[i] = convert(row[i], shape.fields[i].type, fields->types[i], fields->typmods[i]);
  }
  const Value whole = make_record(execution.row_arena, fields->types, fitted);
  assign(target.variable, whole, type);
  return true;
}

void Frame::assign_row(const Targets& targets, const ShapePtr& shape, std::span<const Value> row) {
  const Target& first = targets[0];
  const Variable& variable = program.variables[first.variable];
  if (targets.size() == 1 && assign_composite(first, *shape, row)) return;
  const bool is_record =
      targets.size() == 1 && variable.kind == Variable::Kind::record && first.field.empty();
  if (!is_record) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (i < row.size()) {
        assign(targets[i], row[i], shape->fields[i].type);
      } else {
        assign(targets[i], Value::null(), TypeId::text);
      }
    }
    return;
  }
  if (!variable.shape) return set_record(variable.place, shape, row);
  std::vector<Value> fitted(variable.shape->fields.size());
  for (std::size_t i = 0; i < fitted.size() && i < row.size(); ++i) {
    const Shape::Field& field = variable.shape->fields[i];
    fitted[i] = convert(row[i], shape->fields[i].type, field.type, field.typmod);
  }
  set_record(variable.place, variable.shape, fitted);
}

void Frame::assign_nothing(const Targets& targets, const ShapePtr& shape) {
  const Target& first = targets[0];
  const Variable& variable = program.variables[first.variable];
  const bool is_record =
      targets.size() == 1 && variable.kind == Variable::Kind::record && first.field.empty();
  if (is_record && !variable.not_null) {
    const ShapePtr& columns = variable.shape ? variable.shape : shape;
    const std::vector<Value> nulls(columns->fields.size());
    return set_record(variable.place, columns, nulls);
  }
  for (const Target& target : targets) assign(target, Value::null(), TypeId::text);
}

void Frame::set_found(bool is_found) {
  values[program.variables[program.found].place] = Value::from_bool(is_found);
}

bool Frame::is_true(Expression& condition) {
  const RowScope scope{execution};
  Value value = condition.evaluate(*this);
  if (condition.type() != TypeId::bool_) {
    value = convert(value, condition.type(), TypeId::bool_, kNoTypmod);
  }
  return !value.is_null() && value.as_bool();
}

std::optional<std::string> Frame::text_of(Expression& expression) {
  const RowScope scope{execution};
  const Value value = expression.evaluate(*this);
  if (value.is_null()) return std::nullopt;
  return to_text(execution.functions, expression.type(), value);
}

Value Frame::record_value(std::size_t record) {
  const Record& from = records[record];
  if (!from.shape || from.is_null) return Value::null();
  std::vector<TypeId> types;
  std::vector<std::string> names;
  for (const Shape::Field& field : from.shape->fields) {
    types.push_back(field.type);
    names.push_back(field.name);
  }
  return make_record(execution.row_arena, types, from.values, names);
}

Flow Frame::run_steps(const Steps& steps) {
  check_stack();
  const Step* const outer = at;
  for (const StepPtr& each : steps) {
    at = each.get();
    const Flow flow = each->run(*this);
    if (flow != Flow::next) {
      at = outer;
      return flow;
    }
  }
  at = outer;
  return Flow::next;
}

std::string Frame::call_line() const {
  const std::string name =
      routine.oid == kNoOid ? routine.name : session.names.routine_signature(routine);
  if (!phase.empty()) {
    const int where = line != 0 ? line : (at != nullptr ? at->line : 0);
    if (where == 0 || phase.starts_with("while") || phase == "during function entry" ||
        phase == "during function exit") {
      return fmt::format("PL/pgSQL function {} {}", name, phase);
    }
    return fmt::format("PL/pgSQL function {} line {} {}", name, where, phase);
  }
  if (at == nullptr) return fmt::format("PL/pgSQL function {}", name);
  return fmt::format("PL/pgSQL function {} line {} at {}", name, line != 0 ? line : at->line,
                     at->what());
}

void Frame::add_place(SqlError& error) {
  if (std::exchange(context_told, false)) return;
  add_context(error, call_line());
}

}  // namespace swizzle::sql::plpgsql
