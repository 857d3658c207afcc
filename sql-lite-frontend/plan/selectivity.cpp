#include "sql-lite-frontend/plan/selectivity.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/constants.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

// PostgreSQL's estimates in the absence of statistics.
constexpr double kUnknownEqual = 0.005;
constexpr double kUnknownRange = 1.0 / 3;
constexpr double kUnknownBoth = 0.005;
constexpr double kUnknownCondition = 1.0 / 3;
constexpr double kUnknownNull = 0.005;
constexpr double kUnknownLike = 0.005;
constexpr double kUnknownContained = 0.005;
constexpr double kUnknownDistinct = 200;
constexpr double kElementsOfUnknownArray = 10;

double clamp_share(double share) {
  return std::clamp(share, 0.0, 1.0);
}

const ConstantExpr* as_constant(const Expr& expr) {
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&expr)) return constant;
  const auto* cast = dynamic_cast<const CastExpr*>(&expr);
  if (cast == nullptr || cast->cast().method != CastMethod::relabel) return nullptr;
  return dynamic_cast<const ConstantExpr*>(&cast->operand());
}

/// A column of a table, with its statistics.
struct Known {
  const SlotExpr* slot = nullptr;
  const ColumnKnowledge::Column* column = nullptr;
};

Known column_of(const Expr& expr, const ColumnKnowledge& known) {
  const SlotExpr* slot = as_column(expr);
  if (slot == nullptr) return {};
  return {slot, known.find(slot->slot())};
}

double null_share(const ColumnKnowledge::Column* column) {
  if (column == nullptr || column->not_null) return 0;
  return column->statistics != nullptr ? column->statistics->null_fraction : 0;
}

double distinct_of(const ColumnKnowledge::Column* column) {
  if (column == nullptr) return kUnknownDistinct;
  if (column->statistics != nullptr && column->statistics->distinct != 0) {
    return std::max(1.0, column->statistics->distinct_of(column->rows));
  }
  if (column->is_unique) return std::max(1.0, column->rows);
  return std::min(kUnknownDistinct, std::max(1.0, column->rows));
}

Value value_of_flat(const std::string& flat, TypeId type) {
  return read_flat(shape_of(type), as_bytes(flat));
}

double equal_share(const ColumnKnowledge::Column* column, const Expr* value,
                   const ColumnKnowledge& known) {
  if (column == nullptr) return kUnknownEqual;
  const ColumnStatistics* statistics = column->statistics;
  if (statistics == nullptr || statistics->distinct == 0) return 1 / distinct_of(column);
  const std::optional<Value> constant = value == nullptr ? std::nullopt : known.foreseen(*value);
  if (!constant) return clamp_share((1 - null_share(column)) / distinct_of(column));
  if (constant->is_null()) return 0;
  const CompareFunction compare = compare_function(statistics->type);
  double common = 0;
  for (const ColumnStatistics::Common& entry : statistics->common) {
    if (compare(value_of_flat(entry.value, statistics->type), *constant) == 0) {
      return entry.frequency;
    }
    common += entry.frequency;
  }
  const double others = distinct_of(column) - static_cast<double>(statistics->common.size());
  const double rest = clamp_share(1 - null_share(column) - common);
  return others < 1 ? std::min(rest, 1 / std::max(column->rows, 1.0)) : rest / others;
}

/// Returns the position of a number-like value on a scale of its type, for interpolation.
std::optional<double> as_number(const Value& value, TypeId type) {
  const TypeOrder& order = value_type(type).order;
  return order.position == nullptr ? std::nullopt : order.position(value);
}

/// The share of the histogram's values below `value`.
double histogram_below(const ColumnStatistics& statistics, const Value& value) {
  const CompareFunction compare = compare_function(statistics.type);
  const auto& bounds = statistics.histogram;
  std::size_t low = 0;
  std::size_t high = bounds.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (compare(value_of_flat(bounds[middle], statistics.type), value) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  if (low == bounds.size()) return 1;
  double part = 0.5;
  const auto begin = as_number(value_of_flat(bounds[low - 1], statistics.type), statistics.type);
  const auto end = as_number(value_of_flat(bounds[low], statistics.type), statistics.type);
  const auto at = as_number(value, statistics.type);
  if (begin && end && at && *end > *begin) part = clamp_share((*at - *begin) / (*end - *begin));
  return (static_cast<double>(low - 1) + part) / static_cast<double>(bounds.size() - 1);
}

/// Converts a value to a column's type, if both are moments; ignores the session's offset from UTC.
std::optional<Value> as_moment(const Value& value, TypeId from, TypeId to) {
  if (value.is_null() || (from == TypeId::date) == (to == TypeId::date)) return value;
  const std::int64_t at = value.as_int8();
  if (to == TypeId::date) return Value::from_int(at / kMicrosPerDay);
  constexpr std::int64_t kFarthest = INT64_MAX / kMicrosPerDay;
  if (at > kFarthest || at < -kFarthest) return std::nullopt;
  return Value::from_int(at * kMicrosPerDay);
}

/// The share of the rows with a value below `value`, or at most that.
std::optional<double> share_below(const ColumnKnowledge::Column* column, const Expr& bound,
                                  bool inclusive, const ColumnKnowledge& known) {
  if (column == nullptr || column->statistics == nullptr) return std::nullopt;
  const ColumnStatistics& statistics = *column->statistics;
  std::optional<Value> constant = known.foreseen(bound);
  if (constant) constant = as_moment(*constant, bound.type(), statistics.type);
  if (!constant) return std::nullopt;
  if (constant->is_null()) return std::nullopt;
  if (statistics.common.empty() && statistics.histogram.empty()) return std::nullopt;
  const CompareFunction compare = compare_function(statistics.type);
  double share = 0;
  double common = 0;
  for (const ColumnStatistics::Common& entry : statistics.common) {
    const int order = compare(value_of_flat(entry.value, statistics.type), *constant);
    if (order < 0 || (inclusive && order == 0)) share += entry.frequency;
    common += entry.frequency;
  }
  const double rest = clamp_share(1 - null_share(column) - common);
  if (statistics.histogram.size() >= 2) share += rest * histogram_below(statistics, *constant);
  return clamp_share(share);
}

/// A bound of one column, by a value that is no column of the same table.
struct Range {
  Slot slot;
  bool is_low;
  std::optional<double> below;  ///< the share of values beneath the bound
  double nulls;
};

/// Returns the operator of a comparison such as "<" between different date and time types, which no
/// index can use.
std::string_view moments_operator(const Expr& condition) {
  const auto* call = dynamic_cast<const FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr || call->operands().size() != 2) return {};
  const auto is_moment = [](TypeId type) {
    return type == TypeId::date || type == TypeId::timestamp || type == TypeId::timestamptz;
  };
  const Operator& op = *call->op();
  if (!is_moment(op.left) || !is_moment(op.right)) return {};
  for (const std::string_view name : {"<", "<=", ">=", ">"}) {
    if (op.name == name) return op.name;
  }
  return {};
}

std::optional<Range> as_range(const Expr& condition, const ColumnKnowledge& known) {
  std::string_view op = ordering_operator(condition);
  if (op.empty()) op = moments_operator(condition);
  if (op.empty() || op == "=") return std::nullopt;
  const auto operands = dynamic_cast<const OperandsExpr&>(condition).operands();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Known column = column_of(*operands[side], known);
    if (column.slot == nullptr || as_column(*operands[1 - side]) != nullptr) continue;
    const bool is_less = (op[0] == '<') == (side == 0);
    const bool is_inclusive = op.size() == 2;
    // Below a low bound lie the values that it excludes.
    const bool counts_equal = is_less == is_inclusive;
    const Expr& bound = *operands[1 - side];
    Range range{column.slot->slot(), !is_less,
                share_below(column.column, bound, counts_equal, known), null_share(column.column)};
    // No value is below or above NULL.
    const std::optional<Value> value = known.foreseen(bound);
    if (value && value->is_null()) range.below = is_less ? 0 : 1 - range.nulls;
    return range;
  }
  return std::nullopt;
}

double range_share(const Range& range) {
  if (!range.below) return kUnknownRange;
  return clamp_share(range.is_low ? 1 - range.nulls - *range.below : *range.below);
}

double any_share(const ArrayComparisonExpr& any, const ColumnKnowledge& known) {
  const Known column = column_of(*any.operands()[0], known);
  if (any.kind() != ArrayComparisonExpr::Kind::any || any.op().name != "=") {
    return any.kind() == ArrayComparisonExpr::Kind::all && any.op().name == "<>"
               ? 1 - kUnknownEqual * kElementsOfUnknownArray
               : kUnknownCondition;
  }
  const auto* array = dynamic_cast<const ArrayExpr*>(any.operands()[1].get());
  if (array == nullptr) {
    return clamp_share(kElementsOfUnknownArray * equal_share(column.column, nullptr, known));
  }
  double share = 0;
  for (const ExprPtr& element : array->operands())
    share += equal_share(column.column, element.get(), known);
  return clamp_share(share);
}

double equality_share(const OperandsExpr& equality, const ColumnKnowledge& known) {
  const Known left = column_of(*equality.operands()[0], known);
  const Known right = column_of(*equality.operands()[1], known);
  if (left.column != nullptr && right.column != nullptr) {
    const double values = std::max(distinct_of(left.column), distinct_of(right.column));
    return clamp_share((1 - null_share(left.column)) * (1 - null_share(right.column)) / values);
  }
  if (left.column != nullptr) {
    return equal_share(left.column, equality.operands()[1].get(), known);
  }
  if (right.column != nullptr) {
    return equal_share(right.column, equality.operands()[0].get(), known);
  }
  return kUnknownEqual;
}

double like_share(const LikePrefix& like, const ColumnKnowledge& known) {
  const Known column = column_of(*like.column, known);
  if (column.column == nullptr || column.column->statistics == nullptr) return kUnknownLike;
  const ColumnStatistics& statistics = *column.column->statistics;
  const auto matches = [&](const std::string& text) {
    return like.is_exact ? text == like.prefix : text.starts_with(like.prefix);
  };
  double share = 0;
  double common = 0;
  for (const ColumnStatistics::Common& entry : statistics.common) {
    common += entry.frequency;
    if (matches(entry.value)) share += entry.frequency;
  }
  const double rest = clamp_share(1 - null_share(column.column) - common);
  if (like.prefix.empty()) return clamp_share(share + rest * kUnknownCondition);
  const auto hits = static_cast<double>(std::ranges::count_if(statistics.histogram, matches));
  const auto bounds = static_cast<double>(std::max<std::size_t>(statistics.histogram.size(), 1));
  return clamp_share(share + rest * std::max(hits / bounds, like.is_exact ? 0 : 1 / (2 * bounds)));
}

double test_share(const TestExpr& test, const ColumnKnowledge& known) {
  using Kind = TestExpr::Kind;
  const Known column = column_of(*test.operands()[0], known);
  const bool has_statistics = column.column != nullptr && column.column->statistics != nullptr;
  double nulls = kUnknownNull;
  if (column.column != nullptr && (has_statistics || column.column->not_null)) {
    nulls = null_share(column.column);
  }
  switch (test.kind()) {
    case Kind::is_null:
    case Kind::is_unknown:
      return nulls;
    case Kind::is_not_null:
    case Kind::is_not_unknown:
      return 1 - nulls;
    case Kind::is_true:
      return selectivity(*test.operands()[0], known);
    case Kind::is_not_true:
      return 1 - selectivity(*test.operands()[0], known);
    case Kind::is_false:
      return clamp_share(1 - nulls - selectivity(*test.operands()[0], known));
    case Kind::is_not_false:
      return clamp_share(nulls + selectivity(*test.operands()[0], known));
  }
  return kUnknownCondition;
}

double boolean_share(const BooleanExpr& boolean, const ColumnKnowledge& known) {
  switch (boolean.kind()) {
    case BooleanExpr::Kind::conjunction:
      return selectivity(boolean.operands(), known);
    case BooleanExpr::Kind::negation:
      return 1 - selectivity(*boolean.operands()[0], known);
    case BooleanExpr::Kind::disjunction:
      break;
  }
  double none = 1;
  for (const ExprPtr& operand : boolean.operands()) none *= 1 - selectivity(*operand, known);
  return 1 - none;
}

double column_share(const SlotExpr& slot, const ColumnKnowledge& known) {
  const ColumnKnowledge::Column* column = known.find(slot.slot());
  if (column == nullptr || column->statistics == nullptr) return 0.5;
  for (const ColumnStatistics::Common& entry : column->statistics->common) {
    if (value_of_flat(entry.value, column->statistics->type).as_bool()) return entry.frequency;
  }
  return 0;
}

}  // namespace

const ColumnKnowledge::Column* ColumnKnowledge::find(Slot slot) const {
  const auto found = columns_.find(slot);
  return found == columns_.end() ? nullptr : &found->second;
}

std::optional<Value> ColumnKnowledge::foreseen(const Expr& expr) const {
  if (const ConstantExpr* constant = as_constant(expr)) return constant->value();
  return execution_ == nullptr ? std::nullopt : foreseen_value(expr, *execution_);
}

std::optional<Value> ColumnKnowledge::given(const Expr& expr) const {
  if (how_fixed(expr) == Fixed::no) return std::nullopt;
  return foreseen(expr);
}

bool ColumnKnowledge::awaits_values(const Expr& expr) const {
  return how_fixed(expr) == Fixed::by_parameters && !foreseen(expr);
}

LikeOperands like_operands(const Expr& condition) {
  const auto* call = dynamic_cast<const FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr || call->op()->name != "~~") return {};
  if (shape_of(call->operands()[0]->type()) != Shape::text) return {};
  return {call->operands()[0].get(), call->operands()[1].get()};
}

std::optional<LikePrefix> like_prefix(const Expr& condition, const ColumnKnowledge& known) {
  const LikeOperands operands = like_operands(condition);
  if (operands.column == nullptr) return std::nullopt;
  const std::optional<Value> pattern = known.given(*operands.pattern);
  if (!pattern || pattern->is_null()) return std::nullopt;
  LikePrefix like;
  like.column = operands.column;
  const std::string_view text = pattern->as_text();
  std::size_t i = 0;
  for (; i < text.size() && text[i] != '%' && text[i] != '_'; ++i) {
    if (text[i] == '\\') {
      ++i;
      if (i == text.size()) return std::nullopt;
    }
    like.prefix += text[i];
  }
  like.is_exact = i == text.size();
  return like;
}

namespace {

/// True for an extension's operators on an hstore or on a text's trigrams.
bool is_contained_in_elements(const Expr& condition) {
  const auto* made = dynamic_cast<const RoutineExpr*>(&condition);
  if (made == nullptr || made->written().op == nullptr || made->routine().language != "c") {
    return false;
  }
  constexpr std::string_view kOperators[] = {"@>", "<@", "?",  "?|",  "?&",
                                             "%",  "<%", "%>", "<<%", "%>>"};
  return std::ranges::find(kOperators, made->written().op->name) != std::end(kOperators);
}

}  // namespace

double selectivity(const Expr& condition, const ColumnKnowledge& known) {
  check_stack();
  if (const auto* boolean = dynamic_cast<const BooleanExpr*>(&condition)) {
    return boolean_share(*boolean, known);
  }
  if (const auto* constant = dynamic_cast<const ConstantExpr*>(&condition)) {
    return !constant->value().is_null() && constant->value().as_bool() ? 1 : 0;
  }
  if (const auto* slot = dynamic_cast<const SlotExpr*>(&condition))
    return column_share(*slot, known);
  if (const auto* test = dynamic_cast<const TestExpr*>(&condition)) return test_share(*test, known);
  if (const auto* order = dynamic_cast<const RowOrderExpr*>(&condition)) {
    // The lead condition beside it has nearly all of its selectivity.
    return order->has_lead() ? 1 : kUnknownRange;
  }
  if (const auto* any = dynamic_cast<const ArrayComparisonExpr*>(&condition)) {
    return any_share(*any, known);
  }
  if (const auto like = like_prefix(condition, known)) return like_share(*like, known);
  if (const auto range = as_range(condition, known)) return range_share(*range);
  if (const auto* made = dynamic_cast<const RoutineExpr*>(&condition);
      made != nullptr && ordering_operator(condition) == "=") {
    return equality_share(*made, known);
  }
  if (is_contained_in_elements(condition)) return kUnknownContained;
  const auto* call = dynamic_cast<const FunctionExpr*>(&condition);
  if (call == nullptr || call->op() == nullptr || call->operands().size() != 2) {
    return kUnknownCondition;
  }
  if (call->op()->name == "=") return equality_share(*call, known);
  if (call->op()->name == "<>") return clamp_share(1 - equality_share(*call, known));
  if (!ordering_operator(condition).empty()) return kUnknownRange;
  for (const std::string_view name : {"@>", "<@", "&&", "?", "?|", "?&", "@?", "@@"}) {
    if (call->op()->name == name) return kUnknownContained;
  }
  return kUnknownCondition;
}

double selectivity(std::span<Expr* const> conditions, const ColumnKnowledge& known) {
  double share = 1;
  std::vector<Range> ranges;
  for (const Expr* condition : conditions) {
    if (const auto range = as_range(*condition, known)) {
      ranges.push_back(*range);
    } else {
      share *= selectivity(*condition, known);
    }
  }
  while (!ranges.empty()) {
    const Range range = ranges.back();
    ranges.pop_back();
    const auto other = std::ranges::find_if(ranges, [&](const Range& candidate) {
      return candidate.slot == range.slot && candidate.is_low != range.is_low;
    });
    if (other == ranges.end()) {
      share *= range_share(range);
      continue;
    }
    // Both bounds exclude NULLs, which must count once.
    const double both = range.below && other->below
                            ? range_share(range) + range_share(*other) + range.nulls - 1
                            : kUnknownBoth;
    share *= std::clamp(both, 1e-6, 1.0);
    ranges.erase(other);
  }
  return clamp_share(share);
}

double selectivity(std::span<const ExprPtr> conditions, const ColumnKnowledge& known) {
  std::vector<Expr*> list;
  for (const ExprPtr& condition : conditions) list.push_back(condition.get());
  return selectivity(std::span<Expr* const>{list}, known);
}

double distinct_values(const Expr& expr, double rows, const ColumnKnowledge& known) {
  if (dynamic_cast<const ConstantExpr*>(&expr) != nullptr) return 1;
  const Known column = column_of(expr, known);
  if (expr.type() == TypeId::bool_) return 2;
  const double values = column.column != nullptr ? distinct_of(column.column) : kUnknownDistinct;
  return std::clamp(values, 1.0, std::max(rows, 1.0));
}

}  // namespace swizzle::sql
