#include "sql-lite-frontend/query/bound/hstore_subscript.h"

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

Value HstoreSubscript::evaluate(Execution& execution) const {
  const Value whole = operands_[0]->eval(execution);
  const Value key = operands_[1]->eval(execution);
  if (whole.is_null() || key.is_null()) return Value::null();
  const HstoreView view{whole};
  const auto at = view.find(key.as_text());
  if (!at) return Value::null();
  const auto value = view.pair(*at).value;
  return value ? Value::from_text(*value) : Value::null();
}

void HstoreSubscript::print(ExprPrinter& printer) const {
  const bool is_column = printer.is_column(*operands_[0]);
  if (!is_column) printer.out += "(";
  printer.print(*operands_[0]);
  if (!is_column) printer.out += ")";
  printer.out += "[";
  printer.print(*operands_[1]);
  printer.out += "]";
}

Value hstore_with_pair(Arena& arena, const Value& whole, const Value& key, const Value& value) {
  if (key.is_null()) {
    throw SqlError{sqlstate::null_value_not_allowed,
                   "hstore subscript in assignment must not be null"};
  }
  HstorePair pair{key.as_text(), std::nullopt};
  if (!value.is_null()) pair.value = value.as_text();
  // The new pair first: of pairs with equal keys the first one counts.
  std::vector<HstorePair> pairs{pair};
  if (!whole.is_null()) {
    for (const HstorePair& other : HstoreView{whole}.pairs()) pairs.push_back(other);
  }
  return make_hstore(arena, std::move(pairs));
}

Value HstorePairAssignment::evaluate(Execution& execution) const {
  const Value whole = operands_[0]->eval(execution);
  const Value value = operands_[1]->eval(execution);
  const Value key = operands_[2]->eval(execution);
  return hstore_with_pair(execution.row_arena, whole, key, value);
}

void HstorePairAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  printer.out += "[";
  printer.print(*operands_[2]);
  printer.out += "] := ";
  printer.print(*operands_[1]);
}

}  // namespace swizzle::sql
