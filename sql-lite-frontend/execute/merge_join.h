#pragma once

#include <vector>

#include "sql-lite-frontend/execute/join_operators.h"
#include "sql-lite-frontend/types/compare.h"

namespace swizzle::sql {

/// Joins two inputs that come in the order of their keys, ascending, NULLs last: neither is kept,
/// but for the inner rows of one key at a time. Inner, left, semi and anti joins; the outer rows'
/// order stays.
class MergeJoin final : public PlanOperator {
 public:
  /// Of the same type.
  struct Keys {
    ExprPtr outer;
    ExprPtr inner;
  };
  MergeJoin(JoinKind kind, PlanPtr outer, PlanPtr inner, Keys keys,
            std::vector<ExprPtr> conditions);
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note() const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {outer_.get(), inner_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    visit(outer_);
    visit(inner_);
  }

 private:
  /// Inner rows that have one key.
  struct Group {
    RowStore rows{RowStore::Overflow::to_file};
    Arena arena;
    Value key;
    bool is_there = false;
    void start(Execution& execution, const Value& with);
  };
  /// The next inner row that has a key begins `ahead_`.
  void read_ahead(Execution& execution);
  void next_group(Execution& execution);
  void come_to(Execution& execution);
  bool next_match(Execution& execution);

  JoinKind kind_;
  PlanPtr outer_;
  PlanPtr inner_;
  Keys keys_;
  CompareFunction compare_;
  std::vector<ExprPtr> conditions_;
  std::vector<Slot> inner_slots_;
  HeldRow outer_row_;
  Group group_;
  Group ahead_;  ///< the first row of the group behind
  bool has_begun_ = false;
  bool in_outer_row_ = false;
  bool matched_ = false;
  std::size_t position_ = 0;  ///< in the group; behind it where there is no match
};

}  // namespace swizzle::sql
