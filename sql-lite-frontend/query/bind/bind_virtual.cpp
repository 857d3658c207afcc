#include <algorithm>

#include "sql-lite-frontend/query/bind/expression_binder.h"

/// Virtual generated columns: each place that names one gets the expression, over the row's other
/// columns.
namespace swizzle::sql {

void ExpressionBinder::note_virtual_columns(const Table& table, Slot first_slot) {
  if (!computes_virtual_) return;
  const auto& columns = table.relation.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].is_virtual) continue;
    virtual_columns_.try_emplace(first_slot + static_cast<Slot>(i),
                                 VirtualColumn{&table, first_slot});
  }
}

void ExpressionBinder::note_absence(ScopeItem& item) {
  item.may_be_absent = true;
  if (virtual_columns_.empty()) return;
  for (const ScopeColumn& column : item.columns) {
    const auto known = virtual_columns_.find(column.slot);
    if (known != virtual_columns_.end()) known->second.may_be_absent = true;
  }
}

/// Returns the value, or NULL if all of the fields are.
ExprPtr ExpressionBinder::null_without(std::vector<ExprPtr> fields, ExprPtr value) {
  const TypeId type = value->type();
  std::vector<ExprPtr> branches;
  branches.push_back(std::make_unique<TestExpr>(TestExpr::Kind::is_null,
                                                std::make_unique<RowExpr>(std::move(fields))));
  branches.push_back(std::make_unique<ConstantExpr>(type, kNoTypmod, Value::null()));
  branches.push_back(std::move(value));
  return std::make_unique<CaseExpr>(type, std::move(branches), nullptr, Slot{0});
}

ExprPtr ExpressionBinder::virtual_column(const ScopeColumn& column) {
  const auto known = virtual_columns_.find(column.slot);
  if (known == virtual_columns_.end()) return nullptr;
  const VirtualColumn found = known->second;
  const auto& columns = found.table->relation.columns;
  const Column& definition = columns[column.slot - found.first_slot];
  const auto is_read_by_virtual = [&](Slot slot) {
    return std::ranges::find(read_by_virtual_, slot) != read_by_virtual_.end();
  };
  std::vector<Slot> unread;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Slot slot = found.first_slot + static_cast<Slot>(i);
    if (!is_used(slot) || is_read_by_virtual(slot)) unread.push_back(slot);
  }
  ExprPtr value = coerce_to_column(bind_table_expression(definition.default_sql, *found.table,
                                                         found.first_slot, Clause::generated),
                                   definition);
  if (found.may_be_absent) {
    // A column that is never NULL tells alone whether there is a row.
    const auto is_stored = [](const Column& one) { return !one.dropped && !one.is_virtual; };
    const auto telling = std::ranges::find_if(columns, [&](const Column& one) {
      return is_stored(one) &&
             found.table->relation.never_null(static_cast<std::size_t>(&one - columns.data()));
    });
    std::vector<ExprPtr> fields;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_asked =
          telling == columns.end() ? is_stored(columns[i]) : &columns[i] == &*telling;
      if (!is_asked) continue;
      const Slot slot = found.first_slot + static_cast<Slot>(i);
      mark_used(slot);
      fields.push_back(std::make_unique<SlotExpr>(columns[i].expression_type(), columns[i].typmod,
                                                  slot, SlotExpr::Origin{}));
    }
    value = null_without(std::move(fields), std::move(value));
  }
  for (const Slot slot : unread) {
    if (is_used(slot) && !is_read_by_virtual(slot)) read_by_virtual_.push_back(slot);
  }
  return std::make_unique<VirtualColumnExpr>(
      std::make_unique<SlotExpr>(column.type, column.typmod, column.slot, column.origin),
      std::move(value));
}

}  // namespace swizzle::sql
