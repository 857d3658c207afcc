#include <algorithm>

#include "sql-lite-frontend/execution/write/write_operator.h"
#include "sql-lite-frontend/query/bound/subquery.h"

/// DELETE of many rows: removes the rows of a leaf together.
namespace swizzle::sql {

/// True if rows may be removed some time after they were found: they are not read in between, and
/// there is no other work for each.
bool WriteOperator::may_gather() const {
  if (write_->kind != WriteKind::delete_ || !write_->rows.from.empty() ||
      !write_->returning.empty() || partitions_) {
    return false;
  }
  if (triggers_ || foreign_keys_.looks_at_removed()) return false;
  // Such a condition might read the table and so must see each row deleted at once.
  const auto might = [](const ExprPtr& condition) {
    bool found = is_volatile(*condition);
    walk(*condition,
         [&](Expr& part) { found |= dynamic_cast<const SubqueryExpr*>(&part) != nullptr; });
    return found;
  };
  return std::ranges::none_of(write_->rows.recheck, might);
}

void WriteOperator::gather(Execution& execution) {
  const std::string_view key = as_text(execution.slots[target_->key_slot()].as_bytes());
  const std::size_t count = gathered_.size();
  // An index leads to them in another order.
  if (count != 0 && gathered_.key(count - 1) >= key) delete_gathered(execution);
  gathered_.add(key, as_text(execution.slots[target_->row_slot()].as_bytes()));
  if (gathered_.is_full()) delete_gathered(execution);
}

void WriteOperator::delete_gathered(Execution& execution) {
  const bool reads = writer_.has_entries() || writer_.publishes_rows();
  // Columns are decoded only for index entries and publishing.
  const std::span<Value> wanted = std::span(old_row_).first(
      writer_.publishes_rows() ? old_row_.size() : writer_.columns_of_entries());
  for (std::size_t i = 0; i < gathered_.size();) {
    for (std::size_t end = i + writer_.remove_first(execution, gathered_, i); i < end; ++i) {
      if (reads) target_->read_row(as_bytes(gathered_.row(i)), wanted);
      writer_.removed(execution, gathered_.key(i), old_row_);
      ++written_;
    }
    if (i == gathered_.size()) break;
    execution.slots[target_->key_slot()] = Value::from_bytes(as_bytes(gathered_.key(i)));
    execution.slots[target_->row_slot()] = Value::from_bytes(as_bytes(gathered_.row(i)));
    delete_row(execution);
    ++i;
  }
  gathered_.clear();
}

}  // namespace swizzle::sql
