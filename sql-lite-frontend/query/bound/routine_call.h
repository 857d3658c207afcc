#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// Calls of user-defined routines from a plan. Only a routine's language runs it
/// (routines/language.h): here a call has a routine, types and values, and returns values.
namespace swizzle::sql {

/// One place that calls a routine.
struct RoutineCall {
  CallablePtr callable;
  std::vector<TypeId> argument_types;  ///< polymorphic ones made concrete
  TypeId result = TypeId::none;
  /// Column types of a returned row: the routine's own columns, or those of a column definition
  /// list; empty if a row is one value.
  std::vector<TypeId> column_types = {};
  std::vector<std::int32_t> column_typmods = {};  ///< of a column definition list; empty: none
  /// Collation for comparing strings inside, derived from the arguments; none: the database's.
  Oid collation = kNoOid;

  [[nodiscard]] std::int32_t column_typmod(std::size_t column) const noexcept {
    return column < column_typmods.size() ? column_typmods[column] : kNoTypmod;
  }
  /// Returns the types of the arguments inside the routine.
  [[nodiscard]] std::vector<TypeId> parameter_types() const;
};
using RoutineCallPtr = CheckedShared<const RoutineCall>;

/// State that a call keeps for its run, at its place: the code that it has used last.
struct RoutineCallState;

/// Prints "(operand)::type" for the type of `cast`.
void print_cast(ExprPrinter& printer, const Expr& cast, CastForm form, const Expr& operand);

class RoutineExpr final : public OperandsExpr {
 public:
  RoutineExpr(RoutineCallPtr call, StatePlace place, std::vector<ExprPtr> operands)
      : OperandsExpr(call->result, kNoTypmod, std::move(operands)),
        call_(std::move(call)),
        place_(place) {}
  Value evaluate(Execution& execution) const override;
  void print(ExprPrinter& printer) const override;
  [[nodiscard]] const RoutineCallPtr& call() const noexcept { return call_; }
  [[nodiscard]] const Routine& routine() const noexcept { return *call_->callable->routine; }
  [[nodiscard]] StatePlace place() const noexcept { return place_; }

  /// Written form, if it is not a call.
  struct Written {
    OperatorPtr op;  ///< as this operator
    bool is_cast = false;
    CastForm form = CastForm::implicit;
  };
  [[nodiscard]] const Written& written() const noexcept { return written_; }
  void set_written(Written written) { written_ = std::move(written); }

 private:
  void print_operator(ExprPrinter& printer) const;

  RoutineCallPtr call_;
  StatePlace place_;
  Written written_;
};

}  // namespace swizzle::sql
