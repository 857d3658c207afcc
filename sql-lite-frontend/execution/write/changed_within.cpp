#include "sql-lite-frontend/execution/write/changed_within.h"

#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kTriggeredChange{"27000"};

/// While it lives, reads see their own transaction's changes up to another one of its statements.
class OwnChanges {
 public:
  explicit OwnChanges(Transaction& transaction)
      : transaction_(transaction), outer_(transaction.exchange_view({})) {}
  OwnChanges(const OwnChanges&) = delete;
  OwnChanges& operator=(const OwnChanges&) = delete;
  ~OwnChanges() { static_cast<void>(transaction_.exchange_view(outer_)); }

  [[nodiscard]] std::uint32_t begun() const noexcept { return outer_.statement; }
  /// Hides the transaction's changes from `statement` on; 0: hides none.
  void hide_from(std::uint32_t statement) const noexcept {
    ReadView other = outer_;
    other.statement = statement;
    static_cast<void>(transaction_.exchange_view(other));
  }

 private:
  Transaction& transaction_;
  ReadView outer_;
};

}  // namespace

void refuse_triggered_change(WriteKind kind) {
  throw sql_error(kTriggeredChange,
                  "tuple to be {} was already modified by an operation triggered by the current "
                  "command",
                  kind == WriteKind::delete_ ? "deleted" : "updated")
      .with_hint(
          "Consider using an AFTER trigger instead of a BEFORE trigger to propagate "
          "changes to other rows.");
}

bool is_changed_within(Execution& execution, const Table& table, Bytes key, Bytes row) {
  const Tree tree = *table.tree;
  const OwnChanges shown{*execution.transaction};
  if (shown.begun() == 0) return false;
  ValueBuffer now;
  shown.hide_from(0);
  const bool is_there = value_of(tree.get(*execution.transaction, key, now));
  // Most often another transaction has changed it, which the view does not show.
  if (is_there && compare(now.bytes(), row) == 0) return false;
  ValueBuffer before;
  shown.hide_from(shown.begun() + 1);
  const bool was_there = value_of(tree.get(*execution.transaction, key, before));
  if (was_there != is_there) return true;
  return is_there && compare(before.bytes(), now.bytes()) != 0;
}

void require_same_row(Execution& execution, const WriteStatement& write,
                      const Transaction::Mark& mark, Bytes key, std::span<const Value> row) {
  const Transaction::Mark now = execution.transaction->mark();
  if (now.undo_position == mark.undo_position) return;
  ValueBuffer buffer;
  const Tree tree = *write.table->tree;
  bool is_same =
      value_of(tree.get(*execution.transaction, key, buffer, ReadMode::for_no_key_update));
  if (is_same) {
    std::vector<Value> present(row.size());
    RowReader{write.table->layout, buffer.bytes()}.columns(present);
    is_same = same_values(write.table->column_types, present, row);
  }
  if (!is_same) refuse_triggered_change(write.kind);
}

}  // namespace swizzle::sql
