#include "storage/txn/restart/restart_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/recovery/records/record_kinds.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/transaction_state.h"
#include "storage/txn/undo/give_up_leaf.h"

namespace swizzle {
namespace {

/// The value of one key as the leaf has it.
class LeafValue final : public LeafVisitor {
 public:
  void visit(const Node& leaf, Node::Position at) noexcept override {
    value.reset();
    if (!at.exact || leaf.is_ghost(at.index)) return;
    const Bytes bytes = leaf.value(at.index);
    value.emplace(bytes.begin(), bytes.end());
  }
  std::optional<std::vector<std::byte>> value;
};

std::unexpected<Error> does_not_fit(const UndoStep& step) {
  return fail(sqlstate::data_corrupted,
              fmt::format("tree {} does not have what the log record at {} of a transaction that "
                          "had not ended left there",
                          raw(step.tree), raw(step.lsn)));
}

}  // namespace

Result<std::unique_ptr<TransactionState>> state_of_unended(EngineParts& engine,
                                                           const ActiveTransaction& of,
                                                           Lsn began_at) {
  std::unique_ptr<TransactionState> state =
      engine.transactions->take_state(TransactionPlace::internal);
  if (state == nullptr)
    return fail(sqlstate::out_of_memory,
                "there is no room for all transactions that had not ended");
  state->begin(Isolation::read_committed, Access::read_write);
  state->undo = engine.transactions->take_undo();
  TransactionSlot& slot = state->slot;
  // Leaves that it has changed are not all-visible (T2).
  const Lsn first_change = began_at == Lsn::none ? of.first : began_at;
  slot.begin.store(raw(first_change), std::memory_order_seq_cst);
  slot.outcome.store(UndoLog::kActive, std::memory_order_relaxed);
  slot.chain.first.store(of.first, std::memory_order_relaxed);
  slot.chain.last.store(of.last, std::memory_order_relaxed);
  slot.chain.changes->begin_with(of.changes);
  slot.chain.id.store(of.id, std::memory_order_release);
  state->locks.identify(of.id);
  return state;
}

Result<std::vector<UndoneRow>> rows_of(const UndoStep& step) {
  const RecordKindEntry* const kind = find_kind(static_cast<wal::RecordKind>(step.kind));
  if (kind == nullptr || kind->undo == nullptr) return does_not_fit(step);
  return kind->undo(step.payload);
}

Result<bool> is_undone(EngineParts& engine, const UndoStep& step, const UndoneRow& row) {
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(step.tree));
  LeafValue leaf;
  auto read = tree->read(row.key, leaf);
  // The undo of the row will report the page.
  if (!read && is_unreadable(read.error())) return false;
  if (!read) return fail(std::move(read).error());
  return leaf.value && compare(*leaf.value, row.value) == 0;
}

ChangesBackward::ChangesBackward(EngineParts& engine, UndoLog& into,
                                 std::uint64_t most_rows_of_tree) noexcept
    : engine_(engine),
      into_(into),
      most_rows_(most_rows_of_tree),
      later_(engine.files, engine.directory) {}

Result<> ChangesBackward::read(Lsn last) {
  wal::Reader reader = engine_.log->reader(wal::ReadPattern::random);
  UndoChain steps(reader, last);
  bool is_newest = true;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<UndoStep> step, steps.next());
    if (!step) break;
    RETURN_IF_ERROR(add(*step, std::exchange(is_newest, false)));
  }
  for (const TreeId tree : found_.large) found_.owed_bytes += rows_.at(tree).owed_bytes;
  return {};
}

Result<> ChangesBackward::add(const UndoStep& step, bool is_newest) {
  if (step.kind == RecordKind::page_image) {
    // The root of a tree that the transaction created. The row in the directory names it, too, if
    // that was written.
    if (!found_.created.contains(step.tree)) found_.roots.push_back({step.tree, step.page});
    return {};
  }
  ASSIGN_OR_RETURN(const auto rows, rows_of(step));
  found_.trees.insert(step.tree);
  if (step.kind == RecordKind::load_begun) {
    found_.loaded.insert(step.tree);
    return keep(step, UndoRecord::Kind::load_begun, step.undo_next, {}, {}, false);
  }
  if (!keeps(step, rows.size())) return {};
  for (const UndoneRow& row : rows) {
    // The rows that were already undone are the first ones.
    if (is_newest && row.may_be_done) {
      ASSIGN_OR_RETURN(const bool is_back, is_undone(engine_, step, row));
      if (is_back) continue;
    }
    const Lsn previous = &row == &rows.back() ? step.undo_next : step.lsn;
    RETURN_IF_ERROR(add_row(step, row, previous));
  }
  return {};
}

/// Returns true if undo records are kept for the rows of a step. Always true for two trees that
/// have rows for every table: readers of tables that stay open reach the versions of large values,
/// and the rows of the directory name the trees that are new or dropped.
bool ChangesBackward::keeps(const UndoStep& step, std::size_t rows) {
  Rows& of_tree = rows_[step.tree];
  // An update counts more, since the page of its row is read before the engine opens.
  constexpr std::uint64_t kUpdateCountsAs = 4;
  of_tree.count += step.kind == RecordKind::leaf_update ? rows * kUpdateCountsAs : rows;
  of_tree.owed_bytes += payload::most_undo_bytes(rows, step.payload.size());
  const bool is_shared = step.tree == TreeId::directory || step.tree == kOverflowTree;
  if (of_tree.count <= most_rows_ || is_shared) return true;
  found_.large.insert(step.tree);
  return false;
}

Result<> ChangesBackward::add_row(const UndoStep& step, const UndoneRow& row, Lsn previous) {
  switch (row.action) {
    case LeafChange::Action::remove:
      if (step.tree == TreeId::directory) note_created(row);
      return keep(step, UndoRecord::Kind::inserted, previous, row.key, {}, false);
    case LeafChange::Action::insert:
      RETURN_IF_ERROR(open_dropped(step, row));
      return keep(step, UndoRecord::Kind::removed, previous, row.key, row.value, row.overflow);
    case LeafChange::Action::update:
      return add_update(step, row, previous);
    case LeafChange::Action::leave:
      break;
  }
  return does_not_fit(step);
}

Result<> ChangesBackward::add_update(const UndoStep& step, const UndoneRow& row, Lsn previous) {
  ASSIGN_OR_RETURN(const auto after, value_after(step, row.key));
  if (!after) return keep_unreadable(step, row, previous);
  const auto before = value_before(row.update, *after);
  if (!before) {
    RETURN_IF_ERROR(give_up(step, row.key));
    return keep_unreadable(step, row, previous);
  }
  return keep(step, UndoRecord::Kind::updated, previous, row.key, *before, row.overflow);
}

/// Keeps a change whose page cannot be read: a rollback passes over the row, as a restart would.
Result<> ChangesBackward::keep_unreadable(const UndoStep& step, const UndoneRow& row,
                                          Lsn previous) {
  RETURN_IF_ERROR(keep(step, UndoRecord::Kind::updated, previous, row.key, {}, false));
  return later_.put_unknown(*into_.newest());
}

/// Returns the value that the step left, or nothing if the page is damaged.
Result<std::optional<std::vector<std::byte>>> ChangesBackward::value_after(const UndoStep& step,
                                                                           Bytes key) {
  if (const UndoRecord* const next = later_.find(step.tree, key)) {
    if (next->kind == UndoRecord::Kind::inserted) return does_not_fit(step);
    const Bytes value = next->old_value();
    return std::vector<std::byte>{value.begin(), value.end()};
  }
  ASSIGN_OR_RETURN(AnyTree* const tree, engine_.trees->find(step.tree));
  LeafValue leaf;
  auto read = tree->read(key, leaf);
  if (!read && is_unreadable(read.error())) {
    report_row_given_up(step.tree, read.error());
    return std::optional<std::vector<std::byte>>{};
  }
  if (!read) return fail(std::move(read).error());
  if (leaf.value) return std::move(leaf.value);
  RETURN_IF_ERROR(give_up(step, key));
  return std::optional<std::vector<std::byte>>{};
}

/// Gives up the leaf, which is whole but not as the transaction left it: its last write was lost.
Result<> ChangesBackward::give_up(const UndoStep& step, Bytes key) {
  ASSIGN_OR_RETURN(AnyTree* const tree, engine_.trees->find(step.tree));
  auto given_up = give_up_leaf(engine_, *tree, key, does_not_fit(step).error());
  if (!is_unreadable(given_up.error())) return given_up;
  report_row_given_up(step.tree, given_up.error());
  return {};
}

void ChangesBackward::note_created(const UndoneRow& row) {
  if (row.key.size() == sizeof(std::uint32_t))
    found_.created.insert(tree_of_directory_key(row.key));
}

/// Opens a tree that the transaction drops, since other transactions still read it.
Result<> ChangesBackward::open_dropped(const UndoStep& step, const UndoneRow& row) {
  if (step.tree != TreeId::directory) return {};
  if (row.key.size() != sizeof(std::uint32_t) || row.value.size() != sizeof(std::uint64_t))
    return does_not_fit(step);
  RETURN_IF_ERROR(engine_.trees->finds_dropped(tree_of_directory_key(row.key),
                                               PageId{load<std::uint64_t>(row.value.data())}));
  return {};
}

Result<> ChangesBackward::keep(const UndoStep& step, UndoRecord::Kind kind, Lsn previous, Bytes key,
                               Bytes value, bool overflow) {
  RETURN_IF_ERROR(into_.prepare(key.size() + value.size()));
  UndoRecord& record =
      into_.add({.kind = kind,
                 .tree = step.tree,
                 .key_hash = key.empty() ? 0 : hash_of_key(step.tree, key),
                 .key = key,
                 .old_value = value,
                 .old_overflow = overflow,
                 .statement = 0,
                 .previous_lsn = previous,
                 .new_bytes = std::min(step.payload.size(), Node::kMaxInlineBytes)});
  return kind == UndoRecord::Kind::load_begun ? Result<>{} : later_.put(record);
}

ChangesForward::ChangesForward(TransactionState& state, const PreparedKept& kept,
                               const ChangesFound& found)
    : state_(state), found_(found), traits_(kept.traits) {
  std::ranges::sort(traits_, {}, &UndoTraits::younger);
}

Result<> ChangesForward::take_all(UndoLog& changes) {
  const EngineOptions& options = state_.engine.options;
  if (options.locking && changes.count() > options.row_lock_limit) mark_rows();
  younger_ = changes.count();
  for (const UndoRecord* at = changes.newest(); at != nullptr; at = at->previous) {
    changes.page_in(at);
    --younger_;
    const bool is_row = at->kind != UndoRecord::Kind::load_begun;
    if (is_row && found_.large.contains(at->tree)) continue;
    RETURN_IF_ERROR(take(*at));
  }
  return {};
}

void ChangesForward::mark_rows() noexcept {
  if (state_.marks_rows) return;
  state_.locks.lock_transaction(state_.undo->covers);
  state_.versions.begin_marking();
  state_.marks_rows = true;
}

Result<> ChangesForward::take(const UndoRecord& from) {
  RETURN_IF_ERROR(state_.undo->prepare(from.key_size + std::size_t{from.old_size}));
  UndoLog::Change change{.kind = from.kind,
                         .tree = from.tree,
                         .key_hash = from.key_hash,
                         .key = from.key(),
                         .old_value = from.old_value(),
                         .old_overflow = from.old_overflow,
                         .statement = 0,
                         .previous_lsn = from.previous_lsn,
                         .new_bytes = from.new_size};
  while (!traits_.empty() && traits_.back().younger > younger_) traits_.pop_back();
  if (!traits_.empty() && traits_.back().younger == younger_) {
    if (traits_.back().is_move) change.kind = UndoRecord::Kind::moved;
    change.takes_key = traits_.back().takes_key;
  }
  UndoRecord& record = state_.undo->add(change);
  if (record.kind == UndoRecord::Kind::load_begun) return hide_load(record.tree);
  // No runs exist yet that could have the key.
  state_.versions.add(record, PageId::none);
  if (record.tree == TreeId::directory) note_tree(record);
  const lock::LockId id{record.tree, record.key_hash};
  // Another prepared transaction may have locked another key with that hash; its mark tells the
  // keys apart.
  if (state_.engine.options.locking && !state_.marks_rows &&
      !state_.locks.try_acquire(id, {record.access(), lock::Access::none}))
    mark_rows();
  return {};
}

void ChangesForward::note_tree(const UndoRecord& row) {
  const TreeId tree = tree_of_directory_key(row.key());
  if (row.kind == UndoRecord::Kind::inserted)
    state_.created.push_back(tree);
  else
    state_.dropped.push_back({tree, state_.undo->count()});
}

/// Hides the records of a load from others until the end of the transaction.
Result<> ChangesForward::hide_load(TreeId id) {
  ASSIGN_OR_RETURN(AnyTree* const tree, state_.engine.trees->find(id));
  tree->birth().begin(state_.undo.get(), 0);
  tree->birth().loaded();
  state_.loads.push_back(tree);
  return {};
}

}  // namespace swizzle
