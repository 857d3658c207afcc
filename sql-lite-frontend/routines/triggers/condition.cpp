#include "sql-lite-frontend/routines/triggers/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidCondition{"42P17"};

/// A bound condition together with the binder whose slots it reads.
class BoundCondition {
 public:
  BoundCondition(StatementContext& session, const TablePtr& table)
      : binder_(session.names, arena_),
        columns_(static_cast<Slot>(table->relation.columns.size())),
        slots_{binder_.new_slots(columns_), binder_.new_slots(columns_)},
        scope_(condition_scope(binder_, table, slots_)) {}

  void bind_new(const ast::Node* node) { expr_ = binder_.bind_condition(node, scope_, "WHEN"); }
  void bind_stored(const Trigger& trigger) {
    expr_ = binder_.bind_stored(trigger.when_sql, scope_);
  }

  struct ReadColumn {
    SlotExpr* expr;
    bool is_new;
    std::size_t position;            ///< from 0
    const RowExpr* whole = nullptr;  ///< whole-row expression of which it is a part
  };
  [[nodiscard]] std::vector<ReadColumn> columns() const {
    std::vector<ReadColumn> read;
    const RowExpr* whole = nullptr;
    std::size_t parts = 0;
    // walk() visits an expression before its operands.
    walk(*expr_, [&](Expr& part) {
      if (const auto* row = dynamic_cast<const RowExpr*>(&part); row && row->is_whole_row) {
        whole = row;
        parts = row->names.size();
      }
      auto* column = dynamic_cast<SlotExpr*>(&part);
      if (column == nullptr) return;
      const Slot slot = column->slot();
      // Other slots are the binder's own, such as the value that CASE compares.
      if (slot < slots_.old_row || slot >= slots_.new_row + columns_) return;
      const bool is_new = slot >= slots_.new_row;
      const std::size_t position = slot - (is_new ? slots_.new_row : slots_.old_row);
      read.push_back({column, is_new, position, parts > 0 ? whole : nullptr});
      if (parts > 0) --parts;
    });
    return read;
  }
  [[nodiscard]] const Expr& expr() const { return *expr_; }
  [[nodiscard]] const std::vector<ViewRoutine>& named() const { return binder_.routines_read(); }
  [[nodiscard]] std::string stored() const {
    ExprPrinter printer{.columns = ExprPrinter::Columns::qualified, .out = {}, .is_kept = true};
    printer.print(*expr_);
    return std::move(printer.out);
  }

 private:
  Arena arena_;
  Binder binder_;
  Slot columns_;
  ConditionSlots slots_;
  Scope scope_;
  ExprPtr expr_;
};

void check_column(const Table& table, const Trigger& trigger,
                  const BoundCondition::ReadColumn& column) {
  const Expr& named =
      column.whole != nullptr ? static_cast<const Expr&>(*column.whole) : *column.expr;
  const bool is_new = column.is_new;
  const auto refuse = [&](std::string_view who, std::string_view what) {
    throw sql_error(kInvalidCondition, "{} trigger's WHEN condition cannot reference {} values",
                    who, what)
        .at_position(named.location() + 1);
  };
  if (!trigger.for_each_row) refuse("statement", "column");
  if (!is_new && trigger.fires_on(TriggerEvent::insert)) refuse("INSERT", "OLD");
  if (is_new && trigger.fires_on(TriggerEvent::remove)) refuse("DELETE", "NEW");
  const Column& read = table.relation.columns[column.position];
  if (!is_new || trigger.time != TriggerTime::before || !read.generated) return;
  throw sql_error(kInvalidCondition,
                  "BEFORE trigger's WHEN condition cannot reference NEW generated columns")
      .with_detail(column.whole != nullptr
                       ? "A whole-row reference is used and the table contains generated columns."
                       : fmt::format("Column \"{}\" is a generated column.", read.name))
      .at_position(named.location() + 1);
}

}  // namespace

std::string stored_condition(StatementContext& session, const TablePtr& table,
                             const Trigger& trigger, const ast::Node* node) {
  BoundCondition condition{session, table};
  condition.bind_new(node);
  for (const auto& column : condition.columns()) check_column(*table, trigger, column);
  hold_named(session, condition.named());
  return condition.stored();
}

bool condition_reads(StatementContext& session, const TablePtr& table, const Trigger& trigger,
                     std::size_t position) {
  if (trigger.when_sql.empty()) return false;
  BoundCondition condition{session, table};
  condition.bind_stored(trigger);
  return std::ranges::any_of(condition.columns(), [&](const auto& column) {
    return column.position == position && column.whole == nullptr;
  });
}

std::string renamed_condition(StatementContext& session, const TablePtr& table,
                              const Trigger& trigger, std::size_t position,
                              const std::string& new_name) {
  BoundCondition condition{session, table};
  condition.bind_stored(trigger);
  for (const auto& column : condition.columns()) {
    if (column.position == position) column.expr->rename(new_name);
  }
  return condition.stored();
}

std::string shown_condition(StatementContext& session, const TablePtr& table,
                            const Trigger& trigger, bool pretty) {
  BoundCondition condition{session, table};
  condition.bind_stored(trigger);
  ExprPrinter printer{.columns = ExprPrinter::Columns::qualified,
                      .out = {},
                      .context = &session.session_context,
                      .is_pretty = pretty,
                      .breaks_lines = true};
  printer.print(condition.expr());
  return "(" + std::move(printer.out) + ")";
}

}  // namespace swizzle::sql
