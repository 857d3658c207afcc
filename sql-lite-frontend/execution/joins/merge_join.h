#pragma once

#include <vector>

#include "sql-lite-frontend/execution/joins/join_operators.h"
#include "sql-lite-frontend/types/compare.h"

namespace swizzle::sql {

/// Merge join of two inputs that are sorted by their keys, ascending, NULLs last. Stores only the
/// inner rows of one key at a time. Inner, left, semi and anti joins; preserves the order of the
/// outer rows.
class MergeJoin final : public JoinOperator {
 public:
  /// Join keys of both sides: equally many, in sort order, pairwise of the same types.
  struct Keys {
    std::vector<ExprPtr> outer;
    std::vector<ExprPtr> inner;
  };
  MergeJoin(JoinKind kind, PlanPtr outer, PlanPtr inner, Keys keys,
            std::vector<ExprPtr> conditions);
  MergeJoin(const MergeJoin& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<MergeJoin>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override { return next_with_outer(*this, execution); }
  void close() override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    JoinOperator::for_each_expression(visit);
    visit_each(keys_.change().outer, visit);
    visit_each(keys_.change().inner, visit);
  }

 private:
  friend JoinOperator;
  /// Inner rows with equal keys.
  struct Group {
    RowStore rows{RowStore::Overflow::to_file};
    Arena arena;
    std::vector<Value> key;
    bool is_there = false;
    void start(Execution& execution, std::span<const Value> with);
  };
  bool next_outer(Execution& execution) { return outer().next(execution); }
  /// Finds the group of the outer row, if it has one.
  void come_to(Execution& execution);
  bool next_match(Execution& execution);

  /// Evaluates a side's keys; false if one is NULL, which matches nothing.
  bool take_key(Execution& execution, std::span<const ExprPtr> exprs);
  [[nodiscard]] int compare_with_key(std::span<const Value> other) const;
  /// Reads up to the next inner row with a non-NULL key and stores it in `ahead_`.
  void read_ahead(Execution& execution);
  void next_group(Execution& execution);

  Planned<Keys> keys_;
  std::vector<CompareFunction> compare_;
  std::vector<Value> key_;  ///< taken last
  Group group_;
  Group ahead_;  ///< the first row of the next group
  bool has_begun_ = false;
  std::size_t position_ = 0;  ///< in the group; after it where there is no match
};

}  // namespace swizzle::sql
