// x = ANY (array), x <> ALL (array), x IN (1, 2, 3), and the same with other operators.
#include <algorithm>
#include <array>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/types_of_call.h"
#include "sql-lite-frontend/query/bound/value_table.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/key_codec.h"

namespace swizzle::sql {
namespace {

/// Fewer elements are compared one by one, as PostgreSQL does.
constexpr std::size_t kWorthHashing = 9;
constexpr std::size_t kWorkOfHash = 40;
constexpr std::size_t kWorkOfComparison = 15;

bool is_same_for_every_row(const Expr& expr) {
  check_stack();
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return true;
  if (dynamic_cast<const ParameterExpr*>(&expr) != nullptr) return true;
  const auto* array = dynamic_cast<const ArrayExpr*>(&expr);
  return array != nullptr && std::ranges::all_of(array->operands(), [](const ExprPtr& element) {
           return is_same_for_every_row(*element);
         });
}

}  // namespace

/// Knowledge about an array for the length of a run.
struct ArrayComparisonExpr::Fixed final : ExpressionState {
  enum class Rows : std::uint8_t { unknown, may_change_it, share_it };
  Rows rows = Rows::unknown;
  bool is_made = false;
  std::uint64_t run = 0;
  Arena arena;
  Value array;
  bool has_null = false;
  std::unique_ptr<ValueTable> table;  ///< of the elements; null: they are compared one by one

  void end_run() noexcept override {
    is_made = false;
    table.reset();
    clear_for_next_run(arena);
  }
};

ArrayComparisonExpr::ArrayComparisonExpr(Kind kind, const Operator& op, ExprPtr left, ExprPtr array,
                                         StatePlace place)
    : OperandsExpr(TypeId::bool_, kNoTypmod, {}), kind_(kind), op_(op), place_(place) {
  operands_.push_back(std::move(left));
  operands_.push_back(std::move(array));
}

/// True if one equal element decides the result.
bool ArrayComparisonExpr::asks_for_equality() const noexcept {
  return op_.name == (kind_ == Kind::any ? "=" : "<>") && op_.left == op_.right &&
         op_.function->strict && is_indexable(op_.left);
}

/// Returns the type by which elements are compared.
TypeId ArrayComparisonExpr::compared_type() const noexcept {
  const TypeId left = operands_[0]->type();
  return is_collated(left) ? left : op_.left;
}

ArrayComparisonExpr::Fixed* ArrayComparisonExpr::fixed(Execution& execution) const {
  Fixed& known = execution.state_of<Fixed>(place_);
  using Rows = Fixed::Rows;
  if (known.rows == Rows::unknown) [[unlikely]]
    known.rows = is_same_for_every_row(*operands_[1]) ? Rows::share_it : Rows::may_change_it;
  if (known.rows == Rows::may_change_it) return nullptr;
  if (known.is_made && known.run == execution.run) return &known;
  known.is_made = false;
  known.arena.count_in(execution.memory);
  known.arena.reset();
  known.array = operands_[1]->eval(execution).copy_to(known.arena);
  known.has_null = false;
  known.table.reset();
  if (!known.array.is_null()) {
    const ArrayView view{known.array};
    if (view.size() >= kWorthHashing && asks_for_equality()) {
      known.table = std::make_unique<ValueTable>(std::array{compared_type()});
      known.table->count_in(execution.memory);
      for (std::size_t i = 0; i < view.size(); ++i) {
        yield_point(kWorkOfHash);
        const Value element = view.element(i);
        known.has_null |= element.is_null();
        if (element.is_null()) continue;
        known.table->start();
        known.table->add(0, element);
        known.table->place() = 1;
      }
    }
  }
  known.run = execution.run;
  known.is_made = true;
  return &known;
}

Value ArrayComparisonExpr::evaluate(Execution& execution) const {
  const Value left = operands_[0]->eval(execution);
  Fixed* const known = fixed(execution);
  if (known == nullptr) return compare_each(execution, left, operands_[1]->eval(execution));
  if (known->table == nullptr) return compare_each(execution, left, known->array);
  if (left.is_null()) return Value::null();
  known->table->start();
  known->table->add(0, left);
  const bool is_found = known->table->find() != ValueTable::kAbsent;
  if (!is_found && known->has_null) return Value::null();
  return Value::from_bool(is_found == (kind_ == Kind::any));
}

Value ArrayComparisonExpr::compare_each(Execution& execution, const Value& left,
                                        const Value& array) const {
  if (array.is_null()) return Value::null();
  const ArrayView view{array};
  const bool decisive = kind_ == Kind::any;
  bool unknown = false;
  // For functions that need the collation.
  const std::array types{compared_type(), compared_type()};
  const TypesOfCall told{execution.functions, types};
  for (std::size_t i = 0; i < view.size(); ++i) {
    yield_point(kWorkOfComparison);
    const std::array arguments{left, view.element(i)};
    const bool is_unknown =
        op_.function->strict && (arguments[0].is_null() || arguments[1].is_null());
    const Value result =
        is_unknown ? Value::null() : op_.function->scalar(execution.functions, arguments);
    if (result.is_null()) {
      unknown = true;
    } else if (result.as_bool() == decisive) {
      return Value::from_bool(decisive);
    }
  }
  return unknown ? Value::null() : Value::from_bool(!decisive);
}

}  // namespace swizzle::sql
