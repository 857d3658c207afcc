#pragma once

#include <optional>

#include "sql-lite-frontend/execute/operator.h"
#include "sql-lite-frontend/execute/row_store.h"
#include "sql-lite-frontend/execute/step_copies.h"

namespace swizzle::sql {

/// Compares two rows of key values.
class RowComparison {
 public:
  RowComparison() = default;
  explicit RowComparison(std::span<const SortKey> keys);
  [[nodiscard]] int operator()(const Value* left, const Value* right) const;
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }

 private:
  struct Column {
    CompareFunction compare;
    SortDirection direction;
    NullsOrder nulls;
  };
  std::vector<Column> columns_;
};

/// INTERSECT and EXCEPT, with or without ALL.
class SetOperation final : public PlanOperator {
 public:
  enum class Kind : std::uint8_t { intersect, intersect_all, except, except_all };
  SetOperation(Kind kind, PlanPtr left, std::vector<Slot> left_slots, PlanPtr right,
               std::vector<Slot> right_slots, std::vector<TypeId> types);
  SetOperation(const SetOperation& of, StepCopies& copies)
      : kind_(of.kind_),
        left_(copies.copy(of.left_)),
        left_slots_(of.left_slots_),
        right_(copies.copy(of.right_)),
        right_slots_(of.right_slots_),
        writer_(of.writer_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<SetOperation>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return left_slots_; }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {left_.get(), right_.get()};
  }
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    visit(left_);
    visit(right_);
  }

 private:
  void write_key(const Execution& execution, std::span<const Slot> slots);

  Kind kind_;
  PlanPtr left_;
  std::vector<Slot> left_slots_;
  PlanPtr right_;
  std::vector<Slot> right_slots_;
  KeyWriter writer_;
  KeyTable counts_;
};

}  // namespace swizzle::sql
