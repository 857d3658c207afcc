#pragma once

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

 private:
  bool matches(Execution& execution) const;

  JoinKind kind_;
  PlanPtr outer_;
  PlanPtr inner_;
  std::vector<ExprPtr> conditions_;
  std::vector<Slot> inner_slots_;
  bool in_outer_row_ = false;
  bool matched_ = false;
};

/// Keeps the build side in a hash table by the join's keys and looks up every row of the probe
/// side. `kind` is seen from the probe side: left keeps all of its rows, right all of the build's.
class HashJoin final : public PlanOperator {
 public:
  struct Keys {
    std::vector<ExprPtr> probe;
    std::vector<ExprPtr> build;
  };
  HashJoin(JoinKind kind, PlanPtr probe, PlanPtr build, Keys keys, std::vector<ExprPtr> conditions);
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note() const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {probe_.get(), build_.get()};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  void fill(Execution& execution);
  /// False when one of the keys is NULL, which equals nothing.
  bool write_key(Execution& execution, std::span<const ExprPtr> exprs);
  bool next_match(Execution& execution);
  bool next_unmatched(Execution& execution);

  JoinKind kind_;
  PlanPtr probe_;
  PlanPtr build_;
  Keys keys_;
  std::vector<ExprPtr> conditions_;
  KeyWriter writer_;
  KeyTable table_;                       ///< key → last row with it
  std::vector<std::uint32_t> previous_;  ///< row → the row before it with the same key
  std::vector<bool> row_matched_;
  RowStore store_;
  std::uint32_t candidate_ = kNone;
  bool in_probe_row_ = false;
  bool matched_ = false;
  bool probing_ = true;
  std::size_t unmatched_ = 0;
};

}  // namespace swizzle::sql
