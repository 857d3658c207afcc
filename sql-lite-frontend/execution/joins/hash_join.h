#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "sql-lite-frontend/execution/joins/join_operators.h"
#include "sql-lite-frontend/execution/rows/row_partitions.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/query/bound/value_table.h"

namespace swizzle::sql {

/// Hash join: builds a hash table over the build side and looks up each row of the probe side in
/// it. The probe side is the outer one: a left join keeps all of its rows, a right join all rows of
/// the build side.
///
/// If only the existence of a match counts (semi and anti joins), one build row is stored per key,
/// or, if there are conditions besides the keys, only the columns that they read.
///
/// If the build side exceeds the hash memory limit, both sides are partitioned by hash into
/// temporary files and joined part by part; a part that is still too large is partitioned again. At
/// depth kDeepest, rows probably share their keys, so the part is joined in memory up to the
/// session's limit.
class HashJoin final : public JoinOperator {
 public:
  struct Keys {
    std::vector<ExprPtr> probe;
    std::vector<ExprPtr> build;
  };
  HashJoin(JoinKind kind, PlanPtr probe, PlanPtr build, Keys keys, std::vector<ExprPtr> conditions);
  /// Stores only these slots of a build row, those that the keys and conditions read, when build
  /// rows are not part of the result. Pre: the join is not open.
  void keep_only(std::vector<Slot> slots) { store_.set_slots(std::move(slots)); }
  HashJoin(const HashJoin& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<HashJoin>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    JoinOperator::for_each_expression(visit);
    visit_each(keys_.change().probe, visit);
    visit_each(keys_.change().build, visit);
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override;

 private:
  friend JoinOperator;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr unsigned kDeepest = 6;

  /// Rows of both sides with keys in the same part.
  struct Part {
    std::unique_ptr<RowFile> build;
    std::unique_ptr<RowFile> probe;
    unsigned depth = 0;
  };
  /// The pair of spilled parts that is read instead of the inputs.
  struct Reading {
    explicit Reading(Part of) : part(std::move(of)), build(*part.build), probe(*part.probe) {}
    Part part;
    RowFile::Reader build;
    RowFile::Reader probe;
  };

  void fill(Execution& execution);
  void keep_build_row(Execution& execution, bool has_key);
  [[nodiscard]] bool must_split(const Execution& execution) const noexcept;
  /// Moves the rows stored so far to new spilled parts.
  void begin_split(Execution& execution);
  void split_build_row(Execution& execution, bool has_key);
  void split_probe(Execution& execution);
  /// Prepares the next part; false when there is none.
  bool next_part(Execution& execution);
  bool next_build_row(Execution& execution);
  bool next_outer(Execution& execution);
  void clear_table();
  void release_table();
  /// Encodes a key; false if a value is NULL, which matches nothing.
  bool write_key(Execution& execution, std::span<const ExprPtr> exprs);
  void come_to(Execution& execution);
  bool next_match(Execution& execution);
  void forget_matches();
  bool next_unmatched(Execution& execution);
  bool next_of_part(Execution& execution);

  Planned<Keys> keys_;
  ValueTable table_;                         ///< key → last row with it
  CountedVector<std::uint32_t> previous_;    ///< row → the row before it with the same key
  CountedVector<std::uint8_t> row_matched_;  ///< 0 or 1; empty where that does not matter
  RowStore store_;
  std::uint32_t candidate_ = kNone;
  bool probing_ = true;
  std::size_t unmatched_ = 0;

  std::vector<Part> splitting_;  ///< by hash; empty while everything fits
  std::deque<Part> waiting_;
  std::optional<Reading> reading_;

  struct Usage {
    std::uint64_t parts = 1;
    std::size_t peak_bytes = 0;
    std::size_t buckets = 0;
  };
  Usage usage_;
};

}  // namespace swizzle::sql
