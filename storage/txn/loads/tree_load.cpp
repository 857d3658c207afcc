// TreeLoad: a tree is built from sorted records.
#include "storage/txn/loads/tree_load.h"

#include <algorithm>

#include "storage/engine_parts.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {

struct TreeLoad::State {
  State(TransactionState& of, AnyTree& in) noexcept : transaction(of), tree(in) {}

  Result<> append(const LeafContent& content) { return tree.append_leaf(content); }

  TransactionState& transaction;
  AnyTree& tree;
  LeafStage stage;
  std::uint64_t count = 0;
};

namespace {

/// Logs that a rollback, or a restart, of the transaction empties the tree.
Result<> log_begin(TransactionState& state, AnyTree& tree) {
  RETURN_IF_ERROR(state.begin_writing());
  RETURN_IF_ERROR(state.undo->prepare(0));
  ASSIGN_OR_RETURN(LogSpace space,
                   state.engine.tree_log->reserve(sizeof(TreeId), 1, wal::ReservePurpose::growth));
  const Lsn previous = state.slot.chain.last.load(std::memory_order_relaxed);
  state.undo->add({.kind = UndoRecord::Kind::load_begun,
                   .tree = tree.id(),
                   .key_hash = 0,
                   .key = {},
                   .old_value = {},
                   .old_overflow = false,
                   .statement = state.statement,
                   .previous_lsn = previous});
  const TreeId id = tree.id();
  const std::array<Bytes, 1> payload{std::as_bytes(std::span(&id, 1))};
  // No page is latched, as for every other record of a transaction, so a checkpoint that waits for
  // latches could begin after the record without knowing the transaction. It waits for the marks
  // as well.
  const PageStore::MarksGuard marks(*state.engine.store);
  state.engine.tree_log->append(
      space, {RecordKind::load_begun, &state.slot.chain, nullptr, nullptr, id}, payload);
  tree.birth().begin(state.undo.get(), state.statement);
  state.loads.push_back(&tree);
  return {};
}

/// Returns true if no other transaction can write to the blank tree before this one ends: either it
/// has created the tree, or the tree is not in use now, and a lock keeps it so. Never waits.
Result<bool> has_for_itself(TransactionState& state, TreeId id) {
  if (std::ranges::find(state.created, id) != state.created.end()) return true;
  if (!state.engine.options.locking) return false;
  RETURN_IF_ERROR(state.begin_writing());
  ASSIGN_OR_RETURN(const lock::Acquired acquired,
                   state.locks.acquire_table(id, lock::TableMode::exclusive, lock::kSkipLocked));
  return acquired != lock::Acquired::skipped;
}

}  // namespace

Result<AnyTree*> undo_load(EngineParts& engine, TransactionChain& chain, TreeId id) {
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(id));
  ASSIGN_OR_RETURN(const GivenUp given_up, tree->clear());
  report_given_up(id, given_up);
  tree->birth().undone();
  ASSIGN_OR_RETURN(LogSpace space, engine.tree_log->reserve(0, 1, wal::ReservePurpose::completion));
  engine.tree_log->append(space, {RecordKind::load_undone, &chain, nullptr, nullptr, id}, {});
  return tree;
}

TreeLoad::TreeLoad(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
TreeLoad::~TreeLoad() = default;

Result<bool> TreeLoad::add(Bytes key, Bytes value) {
  State& load = *state_;
  INVARIANT(load.tree.birth().is_loading());
  RETURN_IF_ERROR(check_record(key, value));
  LeafContent::Record record{key, value, false};
  StoredAddress address;
  if (is_too_large_inline(key, value)) {
    if (!load.stage.may_follow(key)) return false;
    ASSIGN_OR_RETURN(address, write_overflow(load.transaction, load.tree.id(), value));
    record.value = address;
    record.overflow = true;
  }
  ASSIGN_OR_RETURN(const bool added, load.stage.add(record, [&load](const LeafContent& content) {
    return load.append(content);
  }));
  if (added) ++load.count;
  return added;
}

Result<std::uint64_t> TreeLoad::finish() {
  State& load = *state_;
  RETURN_IF_ERROR(
      load.stage.finish([&load](const LeafContent& content) { return load.append(content); }));
  load.tree.birth().loaded();
  return load.count;
}

Result<bool> Engine::is_blank(TreeId id) {
  ASSIGN_OR_RETURN(AnyTree* const tree, parts_->trees->find(id));
  if (tree->birth().is_loading()) return false;
  return tree->is_blank();
}

Result<std::unique_ptr<TreeLoad>> Engine::start_load(Transaction& transaction, TreeId id,
                                                     Loadable which) {
  TransactionState& state = TransactionAccess::state(transaction);
  const bool is_own = std::ranges::find(state.created, id) != state.created.end();
  if (!is_own && which == Loadable::new_tree) return nullptr;
  ASSIGN_OR_RETURN(const bool may_be_loaded, is_blank(id));
  if (!may_be_loaded) return nullptr;
  const lock::LockMark before = state.locks.mark();
  ASSIGN_OR_RETURN(const bool is_alone, has_for_itself(state, id));
  if (!is_alone) return nullptr;
  // Check again: another transaction may have written to it before the lock was held.
  ASSIGN_OR_RETURN(const bool is_still_blank, is_blank(id));
  if (!is_still_blank) {
    state.locks.release_to(before);
    return nullptr;
  }
  ASSIGN_OR_RETURN(AnyTree* const tree, parts_->trees->find(id));
  {
    // Wait until the tidier has left the tree; on its next visit it sees the load.
    const LeafTidier::Exclusion alone(*parts_->tidier);
    RETURN_IF_ERROR(log_begin(state, *tree));
  }
  return std::unique_ptr<TreeLoad>(new TreeLoad(std::make_unique<TreeLoad::State>(state, *tree)));
}

Result<std::uint64_t> Engine::bulk_load(
    Transaction& transaction, TreeId id,
    const std::function<Result<std::optional<Record>>()>& next) {
  ASSIGN_OR_RETURN(Tree into, tree(id));
  ASSIGN_OR_RETURN(const std::unique_ptr<TreeLoad> load,
                   start_load(transaction, id, Loadable::new_tree));
  std::uint64_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Record> record, next());
    if (!record) break;
    ASSIGN_OR_RETURN(const bool added, load != nullptr
                                           ? load->add(record->key, record->value)
                                           : into.insert(transaction, record->key, record->value));
    if (!added)
      return fail(sqlstate::unique_violation,
                  "a bulk load has the same key twice, or out of order");
    ++count;
  }
  if (load != nullptr) RETURN_IF_ERROR(load->finish());
  return count;
}

}  // namespace swizzle
