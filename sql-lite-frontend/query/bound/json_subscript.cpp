#include "sql-lite-frontend/query/bound/json_subscript.h"

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/json/json_assignment.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Returns the subscripts as a path; nothing if one of them is NULL.
std::optional<std::vector<std::string>> path_of(std::span<const ExprPtr> subscripts,
                                                Execution& execution) {
  std::vector<std::string> path;
  for (const ExprPtr& subscript : subscripts) {
    const Value value = subscript->eval(execution);
    if (value.is_null()) return std::nullopt;
    path.push_back(subscript->type() == TypeId::int4 ? std::to_string(value.as_int4())
                                                     : std::string{value.as_text()});
  }
  return path;
}

void print_subscripts(std::span<const ExprPtr> subscripts, ExprPrinter& printer) {
  for (const ExprPtr& subscript : subscripts) {
    printer.out += "[";
    printer.print(*subscript);
    printer.out += "]";
  }
}

}  // namespace

Value JsonSubscript::evaluate(Execution& execution) const {
  const Value json = operands_[0]->eval(execution);
  const auto path = path_of(std::span{operands_}.subspan(1), execution);
  if (json.is_null() || !path) return Value::null();
  return json_at(execution.row_arena, json, *path);
}

void JsonSubscript::print(ExprPrinter& printer) const {
  const bool is_column = printer.is_column(*operands_[0]);
  if (!is_column) printer.out += "(";
  printer.print(*operands_[0]);
  if (!is_column) printer.out += ")";
  print_subscripts(std::span{operands_}.subspan(1), printer);
}

Value JsonPartAssignment::evaluate(Execution& execution) const {
  const Value json = operands_[0]->eval(execution);
  const Value part = operands_[1]->eval(execution);
  const auto path = path_of(std::span{operands_}.subspan(2), execution);
  if (!path) {
    throw SqlError{sqlstate::null_value_not_allowed,
                   "jsonb subscript in assignment must not be null"};
  }
  const bool begins_list = operands_[2]->type() == TypeId::int4;
  return json_assign(execution.row_arena, json, *path, begins_list, part);
}

void JsonPartAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  print_subscripts(std::span{operands_}.subspan(2), printer);
  printer.out += " := ";
  printer.print(*operands_[1]);
}

}  // namespace swizzle::sql
