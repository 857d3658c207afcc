#include "sql-lite-frontend/query/bound/routine_call.h"

#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

/// True if the session must be set up before the routine runs.
bool runs_as_another(const Routine& routine) noexcept {
  return routine.security_definer || !routine.settings.empty();
}

}  // namespace

std::vector<TypeId> RoutineCall::parameter_types() const {
  std::vector<TypeId> types = argument_types;
  if (collation == kNoOid) return types;
  for (TypeId& type : types) type = with_collation(type, collation);
  return types;
}

Value RoutineExpr::evaluate(Execution& execution) const {
  std::span<Value> values{execution.row_arena.allocate_array<Value>(operands_.size()),
                          operands_.size()};
  const bool strict = call_->callable->function.strict;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = operands_[i]->eval(execution);
    if (strict && values[i].is_null()) return Value::null();
  }
  const Function& function = call_->callable->function;
  if (function.scalar != nullptr && !runs_as_another(routine())) {
    execution.functions.call = {call_->argument_types, call_->result};
    return call_function(function, execution.functions, values);
  }
  return execution.services.call_routine(execution, *call_, place_, values);
}

void RoutineExpr::print_operator(ExprPrinter& printer) const {
  const std::string_view closing = printer.open_operator();
  if (operands_.size() == 2) {
    printer.print_operand(*operands_[0]);
    printer.out += " ";
  }
  ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
  std::optional<std::string> name;
  if (names != nullptr) name = names->operator_name(written_.op->oid);
  printer.out += name.value_or(written_.op->name) + " ";
  printer.print_operand(*operands_.back());
  printer.out += closing;
}

void RoutineExpr::print(ExprPrinter& printer) const {
  const Routine& routine = this->routine();
  if (!printer.is_kept) {
    if (written_.op) return print_operator(printer);
    if (written_.is_cast) return print_cast(printer, *this, written_.form, *operands_[0]);
  }
  if (printer.is_kept) {
    if (written_.op) {
      printer.out += stored_operator_name(written_.op->oid);
    } else if (written_.is_cast) {
      printer.out += stored_cast_name(routine.oid);
    } else {
      printer.out += stored_routine_name(routine.oid);
    }
  } else {
    ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
    std::optional<std::string> name;
    if (names != nullptr) name = names->routine_name(routine.oid);
    printer.out += name ? *name : quote_identifier(routine.name);
  }
  printer.out += "(";
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i > 0) printer.out += ", ";
    const bool is_variadic =
        i + 1 == operands_.size() && call_->callable->function.variadic != TypeId::none;
    if (is_variadic) printer.out += "VARIADIC ";
    printer.print(*operands_[i]);
  }
  printer.out += ")";
}

}  // namespace swizzle::sql
