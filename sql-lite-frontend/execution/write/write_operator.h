#pragma once

#include <memory>

#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/write/deferrable_keys.h"
#include "sql-lite-frontend/execution/write/foreign_keys.h"
#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

class PartitionWrites;
class StatementTriggers;

/// Plan node of INSERT, UPDATE, DELETE and MERGE. open() writes all rows, as in PostgreSQL, even if
/// the client fetches only a part of RETURNING; the returned rows are stored until they are
/// fetched.
class WriteOperator final : public PlanOperator {
 public:
  /// `rows` returns INSERT's new rows, or the rows to change; their table is then `target`.
  WriteOperator(std::unique_ptr<WriteStatement> write, PlanPtr rows, TableAccess* target,
                NameSource& names);
  WriteOperator(const WriteOperator& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<WriteOperator>(*this, copies);
  }
  ~WriteOperator() override;
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override;

  void for_each_input(const std::function<void(PlanPtr&)>& visit) override {
    if (rows_) visit(rows_);
  }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override;

  /// Repeats the source, a single row of VALUES, for every `width` parameters. False if the source
  /// is something else.
  bool repeat_row(std::size_t width);

  /// Number of rows written, for the command tag.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] const WriteStatement& statement() const noexcept { return *write_; }

  /// COPY FROM: writes the row in the source slots. Call begin() before and end() after.
  enum class Rows : std::uint8_t { one, many };
  void begin(Execution& execution, Rows expected);
  void insert_row(Execution& execution);
  /// Ends the writes. Constraint checks and actions are performed by check_written() afterwards.
  void end(Execution& execution);
  void check(Execution& execution);
  /// The same for a statement that runs for a referential action: foreign key work goes to the
  /// queue.
  void check_later(Execution& execution, ReferenceQueue& queue);
  /// Called before any checks and actions of the statement are performed.
  void begin_checks(ReferenceQueue& queue);
  [[nodiscard]] const RowWriter& writer() const noexcept { return writer_; }

 private:
  friend class PartitionWrites;
  /// Creates the operator of one partition, which gets its rows from the operator of the parent.
  WriteOperator(const Planned<WriteStatement>& leaf, const WriteStatement& root, NameSource& names);

  // leaf_rows.cpp
  [[nodiscard]] bool is_leaf() const noexcept { return asked_ != &*write_; }
  void show_as_root(Execution& execution, std::span<const Value> row, Slot first_slot) const;
  [[nodiscard]] Slot row_of_root() const noexcept;
  [[nodiscard]] std::size_t place_of(std::size_t root_position) const noexcept;
  bool insert_leaf_row(Execution& execution, std::span<const Value> row, std::size_t leaf,
                       const PartitionWrites& partitions);
  bool update_leaf_row(Execution& execution, std::size_t leaf, PartitionWrites& partitions);
  bool update_locked_leaf(Execution& execution, std::size_t leaf, PartitionWrites& partitions);
  bool move_leaf_row(Execution& execution, std::size_t to, PartitionWrites& partitions);
  bool delete_leaf_row(Execution& execution);
  bool delete_locked_leaf(Execution& execution);
  void finish_existing_leaf(Execution& execution, std::span<const Value> row);
  void fail_moved_by_trigger(Execution& execution) const;

  // merge_rows.cpp
  enum class Target : std::uint8_t { done, not_matched };
  void merge_row(Execution& execution, KeyTable& done);
  Target merge_target(Execution& execution, MergeAction::Rows rows, KeyTable& done);
  [[nodiscard]] const MergeAction* action_for(Execution& execution, MergeAction::Rows rows) const;
  bool act_on_target(Execution& execution, WriteOperator& holder);
  bool choose_for_target(Execution& execution, MergeAction::Rows rows);
  bool act_on_changed(Execution& execution, MergeAction::Rows rows, WriteOperator& holder);
  bool act_without_source(Execution& execution, WriteOperator& holder);
  void insert_merged(Execution& execution);
  void show_merged(Execution& execution);

  void begin_returning();
  void forget_written();
  void insert_new_row(Execution& execution);
  /// Assignments of MERGE's current action, or of the statement.
  [[nodiscard]] const std::vector<Assignment>& assigned() const noexcept {
    return action_ != nullptr ? action_->assignments : asked_->assignments;
  }
  [[nodiscard]] const std::vector<WriteCheck>& checks_of_new_row() const noexcept {
    return action_ != nullptr && action_->inserts() ? asked_->checks.inserted
                                                    : asked_->checks.policies;
  }
  [[nodiscard]] bool deletes() const noexcept {
    return action_ != nullptr ? action_->removes() : asked_->kind == WriteKind::delete_;
  }
  TableAccess::Locked lock_and_read(Execution& execution, ReadMode mode);
  void insert_with_conflicts(Execution& execution);
  bool update_existing(Execution& execution, const std::string& key);
  void update_row(Execution& execution);
  bool update_locked(Execution& execution);
  void delete_row(Execution& execution);
  bool delete_locked(Execution& execution);
  bool delete_unchanged(Execution& execution);
  [[nodiscard]] bool may_gather() const;
  void gather(Execution& execution);
  void delete_gathered(Execution& execution);
  bool lock_target(Execution& execution, ReadMode mode);
  void lock_changed_keys(Execution& execution, Bytes key, std::span<const Value> new_row);
  void compute_generated(Execution& execution, std::span<Value> row, Slot first_slot);
  void check_policies(Execution& execution, std::span<const WriteCheck> checks);
  void check_row(Execution& execution, std::span<const Value> row);
  void check_each(Execution& execution, std::span<const WriteCheck> checks,
                  std::span<const Value> row);
  void check_bounds(Execution& execution, std::span<const Value> row);
  void keep_returning(Execution& execution);
  void show_row_id(Execution& execution, std::string_view key) const;
  bool before_insert(Execution& execution);
  bool before_update(Execution& execution, Bytes key, std::vector<Value>& row);
  bool before_delete(Execution& execution);
  Bytes own_key(Execution& execution);
  void write_instead(Execution& execution);
  void note_inserted(Execution& execution);
  void note_removed(Execution& execution);
  void note_updated(Execution& execution, std::span<const Value> row);
  void put(Execution& execution, std::span<const Value> row, Slot first_slot);

  Planned<WriteStatement> write_;
  /// The user's statement. Differs from `write_` only if that is the statement for one partition.
  const WriteStatement* asked_;
  PlanPtr rows_;
  /// MERGE: action on the current row; null for other statements.
  const MergeAction* action_ = nullptr;
  /// DELETE: rows collected to be removed together, one leaf at a time.
  HeldRows gathered_;
  Rows expected_ = Rows::one;
  TableAccess* target_;
  RowWriter writer_;
  ForeignKeys foreign_keys_;
  DeferrableKeys deferrable_keys_;
  std::unique_ptr<StatementTriggers> triggers_;  ///< null: it fires none
  std::unique_ptr<PartitionWrites> partitions_;  ///< null: the table has its rows itself
  /// True if the session acts as a replica: keys and foreign keys are left unchecked.
  bool leaves_keys_ = false;
  bool changed_existing_ = false;  ///< by the last of insert_leaf_row()
  bool is_unchecked_ = false;      ///< in the list for check_written()
  std::vector<Value> old_row_;
  std::vector<Value> new_row_;
  /// ON CONFLICT DO UPDATE: keys of the rows that this command has inserted or changed.
  KeyTable touched_;
  std::uint64_t written_ = 0;
  RowStore returned_{RowStore::Overflow::to_file};
  /// RETURNING expressions that are not plain columns of the row.
  std::vector<const OutputTarget*> computed_returning_;
  std::size_t position_ = 0;
};

/// Runs the checks and actions of the statement's changes, once it has written everything.
void check_written(Execution& execution);

}  // namespace swizzle::sql
