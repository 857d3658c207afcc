#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/access/partition_pruner.h"
#include "sql-lite-frontend/execution/access/table_access.h"

namespace swizzle::sql {

/// Scan of a partitioned table: scans its partitions one after the other. Each copies its columns
/// to the slots of the parent table and sets a further slot to the partition's number.
class PartitionScan final : public TableAccess {
 public:
  struct Part {
    PlanPtr input;
    TableAccess* access = nullptr;  ///< somewhere below `input`
    std::size_t leaf = 0;
  };
  /// `outputs`: the parent's slots that the partitions fill, besides the row's identity. Without a
  /// pruner (null), every partition is scanned.
  PartitionScan(TablePtr table, std::string alias, std::vector<Part> parts,
                std::vector<Slot> outputs, Slot partition_slot,
                std::unique_ptr<PartitionPruner> pruner, PartitionTreePtr tree);
  PartitionScan(const PartitionScan& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<PartitionScan>(*this, copies);
  }

  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] Bytes key() const noexcept override { return parts_[current_].access->key(); }
  [[nodiscard]] Bytes row() const noexcept override { return parts_[current_].access->row(); }
  [[nodiscard]] TableAccess& of_row(const Execution& execution) noexcept override;
  void set_wait(WaitPolicy wait) noexcept override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] std::string_view scanned_relation() const noexcept override;
  [[nodiscard]] std::vector<PlanMeasure> measured() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    for (Part& part : parts_) visit(part.input);
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    if (*pruner_) pruner_.change()->for_each_expression(visit);
  }
  /// "p1 p_1", by part.
  [[nodiscard]] std::vector<std::string> part_titles() const;
  /// Slot that holds the number of the row's leaf partition in the tree.
  [[nodiscard]] Slot leaf_slot() const noexcept { return partition_slot_ + 1; }
  /// EXPLAIN omits the Append line over a single partition.
  [[nodiscard]] bool is_shown() const noexcept override { return parts_.size() != 1; }

 private:
  bool open_part(Execution& execution);

  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_leaf_;
  Planned<std::vector<Slot>> outputs_;
  Slot partition_slot_;
  Planned<std::unique_ptr<PartitionPruner>> pruner_;
  PartitionTreePtr tree_;
  std::vector<bool> wanted_leaves_;  ///< in this run; empty: all
  std::size_t current_ = 0;
  bool is_open_ = false;
};

}  // namespace swizzle::sql
