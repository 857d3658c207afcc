#pragma once

#include <string_view>
#include <vector>

#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/execution/rows/row_key_stream.h"
#include "sql-lite-frontend/types/inverted/element_class.h"

namespace swizzle::sql {

/// Search in an inverted index: conditions over its columns, combined with AND. The index may find
/// too many rows, so the caller checks the conditions again.
struct InvertedBounds {
  struct Condition {
    std::size_t column = 0;  ///< of the index
    std::string_view op;
    OperandSide side = OperandSide::left;  ///< side of the operator on which the column is
    ExprPtr value;
  };
  const IndexAccess* index = nullptr;
  std::vector<Condition> conditions;
};

/// Scan of an inverted index: rows in the table's key order that satisfy the conditions, and
/// perhaps others. Reads the whole table if the conditions' values do not restrict the rows.
class InvertedAccess final : public TableAccess {
 public:
  InvertedAccess(TablePtr table, std::string alias, std::vector<Wanted> wanted,
                 InvertedBounds bounds)
      : TableAccess(std::move(table), std::move(alias), std::move(wanted)),
        bounds_(std::move(bounds)) {}
  InvertedAccess(const InvertedAccess& of, StepCopies& copies)
      : TableAccess(of, copies), bounds_(of.bounds_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<InvertedAccess>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] Bytes key() const noexcept override;
  [[nodiscard]] Bytes row() const noexcept override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override;

 private:
  void make_queries(Execution& execution);
  bool next_key(Execution& execution);
  void note_index_leaves(Execution& execution, std::uint64_t before) noexcept;
  void tell_counters() noexcept;
  bool next_of_table(Execution& execution);

  Planned<InvertedBounds> bounds_;
  Arena query_arena_;
  std::vector<ElementQuery> queries_;  ///< one per condition
  RowKeyStreamPtr keys_;
  std::optional<Cursor> all_;  ///< where everything is read
  ValueBuffer row_;
  bool done_ = true;
  ScanCounts counts_;
  bool is_counted_ = true;
};

}  // namespace swizzle::sql
