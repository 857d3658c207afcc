#pragma once

#include <optional>

#include "sql-lite-frontend/execution/access/table_access.h"

namespace swizzle::sql {

/// WHERE CURRENT OF: the current row of a cursor of the session, in its newest version.
class CursorRow final : public TableAccess {
 public:
  /// `parameter`: holds the cursor's name instead.
  CursorRow(TablePtr table, std::string alias, std::vector<Wanted> wanted, std::string cursor,
            std::optional<std::size_t> parameter)
      : TableAccess(std::move(table), std::move(alias), std::move(wanted)),
        cursor_(std::move(cursor)),
        parameter_(parameter) {}
  CursorRow(const CursorRow& of, StepCopies& copies)
      : TableAccess(of, copies), cursor_(of.cursor_), parameter_(of.parameter_) {}
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<CursorRow>(*this, copies);
  }
  void open(Execution&) override { done_ = false; }
  /// Returns no row if the cursor's row has been deleted. Fails with 34000 if there is no such
  /// cursor, and with 24000 if the cursor's row does not belong to this table.
  bool next(Execution& execution) override;
  void close() override {}
  [[nodiscard]] Bytes row() const noexcept override { return row_.bytes(); }
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;

 private:
  std::string cursor_;
  std::optional<std::size_t> parameter_;
  ValueBuffer row_;
  bool done_ = true;
};

}  // namespace swizzle::sql
