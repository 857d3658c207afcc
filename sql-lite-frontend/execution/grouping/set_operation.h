#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/operator.h"

namespace swizzle::sql {

/// INTERSECT and EXCEPT, with or without ALL: hashes the right side. Rows beyond the hash memory
/// limit are spilled to temporary files, partitioned by hash on both sides.
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
  /// Rows of both sides with keys in the same part.
  struct Part {
    std::unique_ptr<RowFile> right;  ///< null: no rows
    std::unique_ptr<RowFile> left;
    unsigned depth;
  };
  /// The pair of spilled parts that is read instead of the inputs.
  struct Reading {
    explicit Reading(Part of) : part(std::move(of)), left(*part.left) {}
    Part part;
    RowFile::Reader left;
  };

  void write_key(const Execution& execution, std::span<const Slot> slots);
  [[nodiscard]] bool is_full(const Execution& execution) const noexcept;
  /// Counts the row in the right slots, or spills it.
  void count_right(Execution& execution);
  /// Returns true if the row in the left slots belongs to the result. May spill it instead and
  /// return false.
  bool is_wanted(Execution& execution);
  bool is_wanted_uncounted(Execution& execution);
  bool next_left(Execution& execution);
  /// Counts the right rows of the next spilled part; false if there is none.
  bool next_part(Execution& execution);
  /// Returns the spilled part for rows with the current key.
  Part& part_of_key(const Execution& execution);
  void put_aside(const Execution& execution, std::unique_ptr<RowFile>& file,
                 std::span<const Slot> slots) const;
  void forget();

  Kind kind_;
  PlanPtr left_;
  std::vector<Slot> left_slots_;
  PlanPtr right_;
  std::vector<Slot> right_slots_;
  KeyWriter writer_;
  KeyTable counts_;
  std::vector<Part> open_;  ///< by hash; empty while everything fits
  std::deque<Part> waiting_;
  std::optional<Reading> reading_;
};

}  // namespace swizzle::sql
