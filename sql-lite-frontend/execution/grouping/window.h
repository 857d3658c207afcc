#pragma once

#include <memory>

#include "sql-lite-frontend/execution/grouping/aggregate.h"
#include "sql-lite-frontend/execution/grouping/window_frame.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/sorting/sort_operators.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"

namespace swizzle::sql {

/// Window functions over one window definition. The input is sorted by partition and order. Stores
/// one partition at a time and adds the results to each of its rows.
class Window final : public PlanOperator {
 public:
  Window(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
         WindowFrame frame, std::vector<WindowCall> calls);
  Window(const Window& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Window>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns /*columns*/) const override {
    return {"WindowAgg", {}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    visit_each(partition_keys_, visit);
    visit_each(order_keys_, visit);
    for (WindowCall& call : calls_.change()) {
      visit_each(call.arguments, visit);
      call.aggregate.for_each_expression(visit);
    }
  }

 private:
  /// Reads the next partition and computes the results of its rows; returns false if there is none.
  bool next_partition(Execution& execution);
  bool next_input(Execution& execution);
  /// Relation of the row in the slots to the one before it.
  enum class Row : std::uint8_t { first_of_partition, first_of_peers, peer };
  Row classify(Execution& execution, bool is_first);
  [[nodiscard]] FrameRows frame_of(Execution& execution, Places partition, std::size_t place) const;
  [[nodiscard]] std::size_t frame_begin(Execution& execution, Places partition,
                                        std::size_t place) const;
  [[nodiscard]] std::size_t frame_end(Execution& execution, Places partition,
                                      std::size_t place) const;
  [[nodiscard]] std::size_t find_in_range(Execution& execution, const Expr& bound,
                                          std::size_t place, bool is_end) const;
  void check_range_offsets(Execution& execution) const;
  void find_range_keys();

  void compute_partition(Execution& execution, Places partition);
  void compute_aggregate(Execution& execution, Places partition, std::size_t call);
  Value compute(Execution& execution, Places partition, std::size_t place, const WindowCall& call);
  Value shifted(Execution& execution, Places partition, std::size_t place, const WindowCall& call);

  PlanPtr input_;
  Planned<std::vector<SortKey>> partition_keys_;
  Planned<std::vector<SortKey>> order_keys_;
  Planned<WindowFrame> frame_;
  Planned<std::vector<WindowCall>> calls_;
  RowComparison partition_comparison_;
  RowComparison order_comparison_;

  RowStore ahead_;  ///< the next partition's first row, if has_ahead_
  bool has_ahead_ = false;
  bool checked_offsets_ = false;
  std::vector<Value> keys_;  ///< of the last row that was read: partition keys, then order keys
  std::vector<Value> new_keys_;
  Arena keys_arena_;

  // Of the partition; places are rows.
  RowStore store_{RowStore::Overflow::to_file};
  CountedVector<Value> range_keys_;  ///< WindowFrame::Range::key
  CountedVector<Value> results_;     ///< per place and call
  Arena results_arena_;
  std::size_t position_ = 0;
  PeerGroups groups_;
  Places with_range_key_;  ///< the rows whose range key is not NULL
};

}  // namespace swizzle::sql
