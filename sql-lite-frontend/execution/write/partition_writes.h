#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/execution/write/write_operator.h"

namespace swizzle::sql {

/// Writes of one statement to the partitions of a table. Each partition has an operator of its own,
/// made for its first row, which is given rows.
class PartitionWrites {
 public:
  PartitionWrites(const WriteStatement& root, NameSource& names);
  PartitionWrites(const PartitionWrites&) = delete;
  PartitionWrites& operator=(const PartitionWrites&) = delete;
  ~PartitionWrites();

  void begin(WriteOperator::Rows expected) noexcept;
  /// The row is in the root's slots, and in `new_row_`.
  void insert(Execution& execution, WriteOperator& root);
  /// The row that the plan found is updated or removed.
  void change(Execution& execution, WriteOperator& root);
  /// The operator of the partition of the row that the plan found.
  WriteOperator& changing(Execution& execution, WriteOperator& root);
  /// The row is locked by that operator. False: it stays as it is.
  bool change_locked(Execution& execution, WriteOperator& root, WriteOperator& holder);
  void end(Execution& execution);
  void close();

  /// The leaf that the new row in the root's slots belongs to. 23514 where there is none.
  [[nodiscard]] std::size_t route(Execution& execution) const;
  WriteOperator& inserting(Execution& execution, std::size_t leaf);
  /// Tells rows of all partitions apart.
  std::string_view name_of_row(Execution& execution, const TableAccess& target);
  [[nodiscard]] const PartitionTree& tree() const noexcept { return *root_.partitions; }

 private:
  struct Leaf {
    std::unique_ptr<WriteOperator> op;
    bool is_begun = false;
  };
  WriteOperator& begun(Execution& execution, Leaf& leaf, const Planned<WriteStatement>& statement);
  [[nodiscard]] std::size_t leaf_of_row(const Execution& execution) const;
  void finish_change(Execution& execution, WriteOperator& root) const;
  [[noreturn]] void fail(Execution& execution, std::size_t node) const;
  [[nodiscard]] std::vector<Value> row_at(const Execution& execution, Slot first_slot) const;
  void note_written(Execution& execution, WriteOperator& root, TriggerEvent event, Slot old_slot,
                    Slot new_slot) const;
  void note_partition(Execution& execution, Slot row, std::size_t leaf) const;

  const WriteStatement& root_;
  WriteOperator* root_op_ = nullptr;  ///< whose row is being written
  NameSource& names_;
  WriteOperator::Rows expected_ = WriteOperator::Rows::one;
  std::vector<Leaf> changes_;
  std::vector<Leaf> inserts_;
  mutable std::vector<Value> key_;
  std::string row_name_;
};

}  // namespace swizzle::sql
