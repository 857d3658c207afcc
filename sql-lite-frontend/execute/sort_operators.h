#pragma once

#include <optional>

#include "sql-lite-frontend/execute/operator.h"
#include "sql-lite-frontend/execute/row_store.h"

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

/// Stable. With `bound`, only the first so many rows are wanted: a heap of that size is enough.
class Sort final : public PlanOperator {
 public:
  Sort(PlanPtr input, std::vector<SortKey> keys);
  /// LIMIT above: count and offset, either may be null. They stay with the limit.
  void set_bound(const Expr* count, const Expr* offset) {
    bound_count_ = count;
    bound_offset_ = offset;
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note() const override { return {"Sort", {{"Sort Key", describe(keys_)}}}; }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }

 private:
  [[nodiscard]] std::size_t bound(Execution& execution) const;
  void keep_row(Execution& execution);

  PlanPtr input_;
  std::vector<SortKey> keys_;
  RowComparison comparison_;
  const Expr* bound_count_ = nullptr;
  const Expr* bound_offset_ = nullptr;
  RowStore store_;
  std::vector<Value> key_values_;
  std::vector<std::uint32_t> order_;
  std::size_t position_ = 0;
};

/// DISTINCT by hashing: the first row of each distinct combination.
class Distinct final : public PlanOperator {
 public:
  Distinct(PlanPtr input, std::vector<ExprPtr> keys);
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return input_->output_slots(); }
  [[nodiscard]] PlanNote note() const override {
    return {"HashAggregate", {{"Group Key", describe(keys_)}}};
  }
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }

 private:
  PlanPtr input_;
  std::vector<ExprPtr> keys_;
  KeyWriter writer_;
  KeyTable seen_;
};

/// INTERSECT and EXCEPT, with or without ALL.
class SetOperation final : public PlanOperator {
 public:
  enum class Kind : std::uint8_t { intersect, intersect_all, except, except_all };
  SetOperation(Kind kind, PlanPtr left, std::vector<Slot> left_slots, PlanPtr right,
               std::vector<Slot> right_slots, std::vector<TypeId> types);
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override { return left_slots_; }
  [[nodiscard]] PlanNote note() const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {left_.get(), right_.get()};
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
