#pragma once

#include "sql-lite-frontend/execute/held_row.h"
#include "sql-lite-frontend/execute/operator.h"
#include "sql-lite-frontend/execute/row_store.h"

namespace swizzle::sql {

enum class JoinKind : std::uint8_t { inner, left, right, full, semi, anti };

/// For every outer row, opens the inner side anew: it may read the outer row's slots, which makes
/// it an index lookup or a lateral subquery. Not for right and full joins.
class NestedLoop final : public PlanOperator {
 public:
  NestedLoop(JoinKind kind, PlanPtr outer, PlanPtr inner, std::vector<ExprPtr> conditions);
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
  bool matches(Execution& execution) const;

  JoinKind kind_;
  PlanPtr outer_;
  PlanPtr inner_;
  std::vector<ExprPtr> conditions_;
  std::vector<Slot> inner_slots_;
  HeldRow outer_row_;
  bool in_outer_row_ = false;
  bool matched_ = false;
};

/// The words of a join's kind in titles: "", " Left" …
std::string_view kind_name(JoinKind kind) noexcept;
void set_null(Execution& execution, std::span<const Slot> slots);
bool all_hold(std::span<const ExprPtr> conditions, Execution& execution);
/// What a join of the kind leaves in slots.
std::vector<Slot> joined_slots(const PlanOperator& left, const PlanOperator& right, JoinKind kind);

}  // namespace swizzle::sql
