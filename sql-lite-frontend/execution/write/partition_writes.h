#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/execution/write/write_operator.h"

namespace swizzle::sql {

/// Writes of one statement to the partitions of a table. Each partition has its own write operator,
/// which is created for its first row.
class PartitionWrites {
 public:
  PartitionWrites(const WriteStatement& root, NameSource& names);
  PartitionWrites(const PartitionWrites&) = delete;
  PartitionWrites& operator=(const PartitionWrites&) = delete;
  ~PartitionWrites();

  void begin(WriteOperator::Rows expected) noexcept;
  /// Inserts the row that is in the root's slots and in `new_row_`.
  void insert(Execution& execution, WriteOperator& root);
  /// Updates or deletes the row that the plan found.
  void change(Execution& execution, WriteOperator& root);
  /// Returns the write operator for the partition of the row that the plan found.
  WriteOperator& changing(Execution& execution, WriteOperator& root);
  /// The same for a row that `holder` has locked. False: the row is left unchanged.
  bool change_locked(Execution& execution, WriteOperator& root, WriteOperator& holder);
  void end(Execution& execution);
  void close();

  /// Returns the leaf partition of the new row in the root's slots. Throws 23514 if there is none.
  [[nodiscard]] std::size_t route(Execution& execution) const;
  /// Returns the leaf to which the updated row in the root's slots belongs. An heir keeps its rows.
  [[nodiscard]] std::size_t route_updated(Execution& execution) const {
    return tree().is_of_heirs() ? leaf_of_row(execution) : route(execution);
  }
  WriteOperator& inserting(Execution& execution, std::size_t leaf);
  /// Returns a name of the row that is unique across all partitions.
  std::string_view name_of_row(Execution& execution, const TableAccess& target);
  [[nodiscard]] const PartitionTree& tree() const noexcept { return *root_.partitions.tree; }

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
  WriteOperator* root_op_ = nullptr;  ///< operator of the row being written
  NameSource& names_;
  WriteOperator::Rows expected_ = WriteOperator::Rows::one;
  std::vector<Leaf> changes_;
  std::vector<Leaf> inserts_;
  mutable std::vector<Value> key_;
  std::string row_name_;
};

}  // namespace swizzle::sql
