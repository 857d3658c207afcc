#include "storage/bulk_changes.h"

#include "storage/engine_parts.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/rows/row_removals.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {

void prefetch_change(const Tree& tree, Transaction& transaction, Bytes key, Fetch step) noexcept {
  TransactionState& state = TransactionAccess::state(transaction);
  const lock::LockId id{tree.id(), hash_of_key(tree.id(), key)};
  const bool locks = state.engine.options.locking;
  if (step == Fetch::places) {
    if (locks) state.locks.prefetch(id);
    state.engine.versions.prefetch(id.hash);
  } else {
    if (locks && !state.marks_rows) state.locks.prefetch_entries(id);
    state.engine.versions.prefetch_newest(id.hash);
  }
}

Result<std::size_t> remove_first(const Tree& tree, Transaction& transaction,
                                 std::span<const Removal> removals) {
  if (removals.empty() || removals.front().key.empty()) return std::size_t{0};
  // A removal together with others would take newer changes for conflicts.
  if (!tree.obeys_snapshot() && keeps_snapshot(transaction.isolation())) return std::size_t{0};
  RowRemovals run(TransactionAccess::state(transaction), tree.id(), removals);
  return run.run(*TransactionAccess::any_tree(tree));
}

Result<bool> remove_unchanged(const Tree& tree, Transaction& transaction, Bytes key, Bytes seen) {
  if (key.empty()) return false;
  RowChange change(TransactionAccess::state(transaction), tree.id(), key, RowChange::Wish::remove,
                   {});
  change.require(seen);
  return change.run(*TransactionAccess::any_tree(tree));
}

}  // namespace swizzle
