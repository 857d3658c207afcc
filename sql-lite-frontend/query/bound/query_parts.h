#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/routine_call.h"

/// The parts of a bound query that the steps of its plan take over as they are.
namespace swizzle::sql {

/// semi and anti say of outer rows whether they have a match, right_semi and right_anti of inner
/// ones.
enum class JoinKind : std::uint8_t { inner, left, right, full, semi, anti, right_semi, right_anti };

/// A slot and the expression that fills it.
struct ComputedSlot {
  Slot slot;
  ExprPtr expr;
};

/// A key of GROUP BY.
struct GroupKey {
  ExprPtr expr;
  Slot slot;
};

/// GROUP BY's sets of keys: a row is grouped once for each.
struct GroupingSets {
  /// Places of the keys of each set, in the order in which they are written. Empty: there is one
  /// set, of all keys.
  std::vector<std::vector<std::uint32_t>> sets;
  /// Slot of a group's set, by its place. Unused if there is one set.
  Slot number = 0;
  /// A call of GROUPING(). Its value depends on the group's set alone.
  struct Call {
    Slot slot = 0;
    std::vector<std::int32_t> value_of_set;
  };
  std::vector<Call> calls;
};

/// A function that returns a set, in the target list.
struct SetItem {
  Slot slot;
  const Function* function = nullptr;
  std::vector<ExprPtr> arguments;
  RoutineCallPtr routine = nullptr;  ///< the routine of `function`, if it is one
  std::int32_t location = -1;        ///< in the statement, for errors
  /// GROUP BY names it: its rows are grouped. Others are made of the groups.
  bool below_grouping = false;
};

/// A function in FROM.
struct FromCall {
  const Function* function = nullptr;  ///< null: `scalar` is one row with one value
  std::vector<ExprPtr> arguments;
  ExprPtr scalar;
  std::vector<Slot> slots;               ///< one per column
  bool composite = false;                ///< rows are records to be taken apart
  std::unique_ptr<RowShape> shape = {};  ///< of a column definition list
  RoutineCallPtr routine = nullptr;      ///< the routine of `function`, if it is one
};

/// TABLESAMPLE: of the rows of the query's one table, those that chance takes.
struct TableSample {
  enum class Method : std::uint8_t { bernoulli, system } method = Method::bernoulli;
  ExprPtr percentage;
  ExprPtr repeatable;  ///< null: another sample each time
};

/// One of the functions that an aggregate is made of: a built-in one, or a routine.
struct AggregateStep {
  const Function* function = nullptr;
  RoutineCallPtr routine;  ///< null: it is built in
  StatePlace place = 0;    ///< of what a call remembers
  std::vector<TypeId> types;
  TypeId result = TypeId::none;
};

/// Steps of a call of such an aggregate. Belongs to the plan, which keeps the objects that it
/// refers to.
struct MadeAggregate {
  CallablePtr callable;
  AggregateStep transition;
  std::optional<AggregateStep> final;
  TypeId state_type = TypeId::none;
  Value initial;  ///< NULL: none

  /// A strict function never sees NULL, and the first row's value is the state then.
  [[nodiscard]] bool skips_nulls() const noexcept { return transition.function->strict; }
};
using MadeAggregatePtr = std::shared_ptr<const MadeAggregate>;

/// One aggregate in a query: count(*), sum(DISTINCT a ORDER BY b) FILTER (WHERE c) …
struct AggregateCall {
  const Function* function = nullptr;
  MadeAggregatePtr made;  ///< where a user made it
  TypeId result = TypeId::none;
  std::vector<ExprPtr> arguments;
  std::vector<SortKey> order;
  ExprPtr filter;
  enum class Quantifier : std::uint8_t { all, distinct } quantifier = Quantifier::all;
  Slot slot = 0;
  std::int32_t location = -1;  ///< in the statement, for errors

  void for_each_expression(const std::function<void(ExprPtr&)>& visit) {
    visit_each(arguments, visit);
    visit_each(order, visit);
    if (filter) visit(filter);
  }
};

/// Rows of its partition that a row's window function reads.
struct WindowFrame {
  enum class Unit : std::uint8_t { rows, range, groups };
  enum class Bound : std::uint8_t {
    unbounded_preceding,
    preceding,
    current_row,
    following,
    unbounded_following,
  };
  enum class Exclusion : std::uint8_t { nothing, current_row, group, ties };
  Unit unit = Unit::range;
  Bound start = Bound::unbounded_preceding;
  Bound end = Bound::current_row;
  Exclusion exclusion = Exclusion::nothing;
  ExprPtr start_offset;
  ExprPtr end_offset;

  /// RANGE with an offset: distances are measured in the type of this, the one column of the order.
  struct Range {
    ExprPtr key;
    /// Beginning and end of the frame for the row in the slots, as values of the key; null if that
    /// is not by an offset.
    ExprPtr start;
    ExprPtr end;
    /// True for a negative offset, which is an error; null like the ones above.
    ExprPtr start_is_negative;
    ExprPtr end_is_negative;
  };
  std::optional<Range> range;
};

enum class WindowFunctionKind : std::uint8_t {
  row_number,
  rank,
  dense_rank,
  percent_rank,
  cume_dist,
  ntile,
  lag,
  lead,
  first_value,
  last_value,
  nth_value,
  aggregate,
};

struct WindowCall {
  WindowFunctionKind kind = WindowFunctionKind::row_number;
  std::vector<ExprPtr> arguments;
  AggregateCall aggregate;  ///< for kind aggregate
  Slot slot = 0;
};

/// Condition on the result of a ranking call, which only grows within a partition. So there is a
/// row after which the condition never holds, and no row after that is needed.
struct RankCondition {
  ExprPtr condition;
  /// True if it has to hold once before it can hold no more: "=".
  bool begins_false = false;
  /// Limit that the condition gives: no row of a higher number is wanted. Null: it gives none.
  const Expr* last_number = nullptr;
};

}  // namespace swizzle::sql
