#include "sql-lite-frontend/bound/routine_call.h"

#include "sql-lite-frontend/types/functions/quoting.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

Value RoutineExpr::evaluate(Execution& execution) const {
  std::span<Value> values{execution.row_arena.allocate_array<Value>(operands_.size()),
                          operands_.size()};
  const bool strict = call_->callable->function.strict;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = operands_[i]->eval(execution);
    if (strict && values[i].is_null()) return Value::null();
  }
  return call_routine(execution, *call_, place_, values);
}

void RoutineExpr::print(ExprPrinter& printer) const {
  const Routine& routine = this->routine();
  if (printer.is_kept) {
    printer.out += stored_routine_name(routine.oid);
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
