#include "storage/txn/restart_prepared.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/records/record_kinds.h"
#include "storage/recovery/records/record_undo.h"
#include "storage/recovery/undo_chain.h"
#include "storage/txn/restart_undo.h"
#include "storage/txn/transaction_state.h"
#include "storage/txn/tree_factory.h"

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
              fmt::format("tree {} does not have what the log record at {} of a prepared "
                          "transaction left there",
                          raw(step.tree), raw(step.lsn)));
}

/// A transaction's changes, read from its newest log record to its oldest, since an update's record
/// has no more than the part that it changed: the value that it found follows from the one that it
/// left, which the next change of the key found, or which the leaf has. They go into an undo log of
/// their own, whose records, walked from the newest of them, are the changes in their order.
class ChangesBackward {
 public:
  ChangesBackward(EngineParts& engine, UndoLog& into) : engine_(engine), into_(into) {}

  Result<> read(Lsn last) {
    wal::Reader reader = engine_.log->reader(wal::ReadPattern::random);
    UndoChain steps(reader, last);
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<UndoStep> step, steps.next());
      if (!step) return {};
      RETURN_IF_ERROR(add(*step));
    }
  }

 private:
  struct KeyOfTree {
    TreeId tree;
    std::string_view key;
    friend bool operator==(const KeyOfTree&, const KeyOfTree&) = default;
  };
  struct Hash {
    std::size_t operator()(const KeyOfTree& of) const noexcept {
      return hash_of_key(of.tree, as_bytes(of.key));
    }
  };

  Result<> add(const UndoStep& step) {
    // The root of a tree that it created: the row of the directory tells of that, too.
    if (step.kind == RecordKind::page_image) return {};
    const RecordKindEntry* const kind = find_kind(static_cast<wal::RecordKind>(step.kind));
    if (kind == nullptr || kind->undo == nullptr) return does_not_fit(step);
    ASSIGN_OR_RETURN(const auto rows, kind->undo(step.payload));
    if (step.kind == RecordKind::load_begun)
      return keep(step, UndoRecord::Kind::load_begun, step.undo_next, {}, {}, false);
    for (const UndoneRow& row : rows) {
      const Lsn previous = &row == &rows.back() ? step.undo_next : step.lsn;
      RETURN_IF_ERROR(add_row(step, row, previous));
    }
    return {};
  }

  Result<> add_row(const UndoStep& step, const UndoneRow& row, Lsn previous) {
    switch (row.action) {
      case LeafChange::Action::remove:
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

  Result<> add_update(const UndoStep& step, const UndoneRow& row, Lsn previous) {
    ASSIGN_OR_RETURN(const auto after, value_after(step, row.key));
    if (!after) return keep_unreadable(step, row, previous);
    const auto before = value_before(row.update, *after);
    if (!before) {
      RETURN_IF_ERROR(give_up(step, row.key));
      return keep_unreadable(step, row, previous);
    }
    return keep(step, UndoRecord::Kind::updated, previous, row.key, *before, row.overflow);
  }

  /// Of a page that cannot be read: a rollback passes over the row, as a restart would.
  Result<> keep_unreadable(const UndoStep& step, const UndoneRow& row, Lsn previous) {
    RETURN_IF_ERROR(keep(step, UndoRecord::Kind::updated, previous, row.key, {}, false));
    next_changes_.erase({step.tree, as_text(row.key)});
    return {};
  }

  /// Nothing: the page is damaged.
  Result<std::optional<std::vector<std::byte>>> value_after(const UndoStep& step, Bytes key) {
    if (const auto next = next_changes_.find({step.tree, as_text(key)});
        next != next_changes_.end()) {
      if (next->second->kind == UndoRecord::Kind::inserted) return does_not_fit(step);
      const Bytes value = next->second->old_value();
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

  /// The leaf is whole and not as the transaction left it: its last write was lost.
  Result<> give_up(const UndoStep& step, Bytes key) {
    ASSIGN_OR_RETURN(AnyTree* const tree, engine_.trees->find(step.tree));
    auto given_up = give_up_leaf(engine_, *tree, key, does_not_fit(step).error());
    if (!is_unreadable(given_up.error())) return given_up;
    report_row_given_up(step.tree, given_up.error());
    return {};
  }

  /// A tree that it drops is still the one that others read.
  Result<> open_dropped(const UndoStep& step, const UndoneRow& row) {
    if (step.tree != TreeId::directory) return {};
    if (row.key.size() != sizeof(std::uint32_t) || row.value.size() != sizeof(std::uint64_t))
      return does_not_fit(step);
    RETURN_IF_ERROR(engine_.trees->finds_dropped(tree_of_directory_key(row.key),
                                                 PageId{load<std::uint64_t>(row.value.data())}));
    return {};
  }

  Result<> keep(const UndoStep& step, UndoRecord::Kind kind, Lsn previous, Bytes key, Bytes value,
                bool overflow) {
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
    if (kind != UndoRecord::Kind::load_begun)
      next_changes_.insert_or_assign({step.tree, as_text(record.key())}, &record);
    return {};
  }

  EngineParts& engine_;
  UndoLog& into_;
  /// By key, of those that have been read: the oldest.
  std::unordered_map<KeyOfTree, const UndoRecord*, Hash> next_changes_;
};

/// Reads the record at `at`, and those before it that belong to it.
Result<std::pair<PreparedRecord, PreparedKept>> read_prepared(EngineParts& engine, Lsn at) {
  wal::Reader reader = engine.log->reader(wal::ReadPattern::random);
  ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
  ASSIGN_OR_RETURN(PreparedRecord prepared, payload::decode_prepared(record.payload));
  PreparedKept kept;
  Lsn before = record.header.txn_prev;
  while (kept.items() < prepared.kept_items && before != Lsn::none) {
    ASSIGN_OR_RETURN(const wal::Record part, reader.read(before));
    if (kind_of(part.header) != RecordKind::prepared_kept) break;
    RETURN_IF_ERROR(payload::decode_kept(part.payload, kept));
    before = part.header.txn_prev;
  }
  if (kept.items() != prepared.kept_items)
    return fail(sqlstate::data_corrupted,
                fmt::format("the log record at {} of prepared transaction \"{}\" misses what was "
                            "to be kept for it",
                            raw(at), prepared.gid));
  return std::pair{std::move(prepared), std::move(kept)};
}

/// Its number, and its place in the log, so that checkpoints and snapshots know of it.
Result<std::unique_ptr<TransactionState>> new_state(EngineParts& engine,
                                                    const ActiveTransaction& of, Lsn began_at) {
  std::unique_ptr<TransactionState> state =
      engine.transactions->take_state(TransactionPlace::internal);
  if (state == nullptr)
    return fail(sqlstate::out_of_memory, "there is no room for all prepared transactions");
  state->begin(Isolation::read_committed, Access::read_write);
  state->undo = engine.transactions->take_undo();
  TransactionSlot& slot = state->slot;
  // Leaves that it has changed are not quiet (T2).
  const Lsn first_change = began_at == Lsn::none ? of.first : began_at;
  slot.begin.store(raw(first_change), std::memory_order_seq_cst);
  slot.outcome.store(UndoLog::kActive, std::memory_order_relaxed);
  slot.is_prepared.store(true, std::memory_order_relaxed);
  slot.chain.first.store(of.first, std::memory_order_relaxed);
  slot.chain.last.store(of.last, std::memory_order_relaxed);
  slot.chain.id.store(of.id, std::memory_order_release);
  state->locks.identify(of.id);
  return state;
}

/// Gives a state its changes, the oldest first.
class ChangesForward {
 public:
  ChangesForward(TransactionState& state, const PreparedKept& kept) : state_(state) {
    for (const UndoTraits& traits : kept.traits) traits_.emplace(traits.younger, traits);
  }

  Result<> take_all(UndoLog& changes) {
    const EngineOptions& options = state_.engine.options;
    if (options.locking && changes.count() > options.row_lock_limit) mark_rows();
    younger_ = changes.count();
    for (const UndoRecord* at = changes.newest(); at != nullptr; at = at->previous) {
      changes.bring_back(at);
      --younger_;
      RETURN_IF_ERROR(take(*at));
    }
    return {};
  }

 private:
  void mark_rows() noexcept {
    if (state_.marks_rows) return;
    state_.locks.lock_transaction(state_.undo->covers);
    state_.versions.begin_marking();
    state_.marks_rows = true;
  }

  Result<> take(const UndoRecord& from) {
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
    if (const auto known = traits_.find(younger_); known != traits_.end()) {
      if (known->second.is_move) change.kind = UndoRecord::Kind::moved;
      change.takes_key = known->second.takes_key;
    }
    UndoRecord& record = state_.undo->add(change);
    if (record.kind == UndoRecord::Kind::load_begun) return hide_load(record.tree);
    // No runs are there that it could be over.
    state_.versions.add(record, PageId::none);
    if (record.tree == TreeId::directory) note_tree(record);
    const lock::LockId id{record.tree, record.key_hash};
    // Another prepared transaction may have another key with that hash; a mark tells them apart.
    if (state_.engine.options.locking && !state_.marks_rows &&
        !state_.locks.try_acquire(id, {record.access(), lock::Access::none}))
      mark_rows();
    return {};
  }

  void note_tree(const UndoRecord& row) {
    const TreeId tree = tree_of_directory_key(row.key());
    if (row.kind == UndoRecord::Kind::inserted)
      state_.created.push_back(tree);
    else
      state_.dropped.push_back({tree, state_.undo->count()});
  }

  /// Hides the records of a load from others until the commit.
  Result<> hide_load(TreeId id) {
    ASSIGN_OR_RETURN(AnyTree* const tree, state_.engine.trees->find(id));
    tree->birth().begin(state_.undo.get(), 0);
    tree->birth().loaded();
    state_.loads.push_back(tree);
    return {};
  }

  TransactionState& state_;
  /// Of the change that is taken: how many come after it.
  std::uint64_t younger_ = 0;
  std::unordered_map<std::uint64_t, UndoTraits> traits_;
};

Result<> take_up(EngineParts& engine, const ActiveTransaction& of) {
  ASSIGN_OR_RETURN(const auto known, read_prepared(engine, of.last));
  const auto& [prepared, kept] = known;
  ASSIGN_OR_RETURN(auto state, new_state(engine, of, prepared.began_at));
  std::unique_ptr<UndoLog> backward = engine.transactions->take_undo();
  auto taken = ChangesBackward(engine, *backward).read(of.last);
  if (taken) taken = ChangesForward(*state, kept).take_all(*backward);
  engine.transactions->give_undo(std::move(backward));
  if (engine.options.locking)
    for (const lock::HeldLock& lock : kept.locks)
      if (taken) taken = state->locks.retake(lock);
  if (!taken) {
    state->abandon();
    return taken;
  }
  auto place = engine.prepared.reserve({.gid = prepared.gid,
                                        .id = of.id,
                                        .prepared_at_us = prepared.prepared_at_us,
                                        .note = prepared.note});
  if (!place) {
    state->abandon();
    return fail(std::move(place).error());
  }
  state->slot.is_prepared_empty.store(state->undo->count() == 0, std::memory_order_relaxed);
  engine.prepared.put(**place, std::move(state));
  spdlog::info("transaction {} is prepared and waits as \"{}\"", raw(of.id), prepared.gid);
  return {};
}

}  // namespace

Result<> take_up_prepared(EngineParts& engine, std::span<const ActiveTransaction> prepared) {
  for (const ActiveTransaction& each : prepared) RETURN_IF_ERROR(take_up(engine, each));
  return {};
}

}  // namespace swizzle
