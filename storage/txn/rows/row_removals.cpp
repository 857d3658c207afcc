#include "storage/txn/rows/row_removals.h"

#include <algorithm>

#include "base/invariant.h"
#include "storage/engine_parts.h"
#include "storage/txn/rows/any_tree.h"

namespace swizzle {

RowRemovals::RowRemovals(TransactionState& transaction, TreeId tree,
                         std::span<const Removal> removals) noexcept
    : transaction_(transaction),
      tree_(tree),
      removals_(removals.first(std::min(removals.size(), kMost))),
      each_(transaction, tree, {}, RowChange::Wish::remove, {}) {}

Result<std::size_t> RowRemovals::run(AnyTree& tree) {
  each_.turn_to(removals_.front().key, 0, removals_.front().seen);
  RETURN_IF_ERROR(each_.begin(tree, WaitPolicy::wait));
  // An assumption, which decide() corrects.
  is_run_ = transaction_.marks_rows && !removals_.front().seen;
  std::size_t key_bytes = 0;
  for (std::size_t i = 0; i < removals_.size(); ++i) {
    const Removal& removal = removals_[i];
    key_bytes += removal.key.size();
    payload_bytes_ += payload::removal_bytes(
        removal.key.size(), removal.seen ? removal.seen->size() : kUnknownValueBytes);
    // The lock and the versions of a key lie anywhere in memory: prefetch those of all keys before
    // using any.
    hashes_[i] = hash_of_key(tree_, removal.key);
    if (!is_run_) transaction_.engine.versions.prefetch(hashes_[i]);
    transaction_.locks.prefetch({tree_, hashes_[i]});
  }
  // The records of one leaf need no more bytes. Removals that do not fit are left to the next
  // visit.
  payload_bytes_ = std::min({payload_bytes_, kPageBytes + key_bytes, kMostPayloadBytes});
  RETURN_IF_ERROR(transaction_.undo->prepare(payload_bytes_, removals_.size()));
  payload_.resize(payload_bytes_);
  previous_lsn_ = transaction_.slot.chain.last.load(std::memory_order_relaxed);
  ++transaction_.leaf_requests;
  RETURN_IF_ERROR(tree.remove(*this, &transaction_.slot.chain, &transaction_.hint_for(tree_)));
  return chosen_;
}

/// In removals of a stretch each record is right after the one before.
Node::Position RowRemovals::find(const Node& leaf, Bytes key) const noexcept {
  if (chosen_ != 0) {
    const auto next = static_cast<std::uint16_t>(slots_[chosen_ - 1] + 1);
    const Bytes prefix = leaf.prefix();
    if (next < leaf.count() && key.size() >= prefix.size() &&
        compare(key.subspan(prefix.size()), leaf.key_rest(next)) == 0)
      return {next, true};
  }
  return leaf.lower_bound(key);
}

Bytes RowRemovals::decide(const Node& leaf) noexcept {
  std::byte* const begin = payload_.data();
  std::byte* end = begin;
  for (const Removal& removal : removals_) {
    if (chosen_ != 0 && !leaf.high_fence().is_above(removal.key)) break;
    const Node::Position at = find(leaf, removal.key);
    each_.turn_to(removal.key, hashes_[chosen_], removal.seen);
    if (!at.exact || leaf.is_overflow(at.index) ||
        each_.decide(leaf, at) != LeafChange::Action::remove)
      break;
    const Bytes value = leaf.value(at.index);
    const std::size_t bytes = payload::removal_bytes(removal.key.size(), value.size());
    if (bytes > payload_bytes_ - static_cast<std::size_t>(end - begin)) break;
    end = payload::put_removal(end, removal.key, value);
    INVARIANT(chosen_ == 0 || slots_[chosen_ - 1] < at.index);
    slots_[chosen_] = at.index;
    settled_[chosen_] = each_.is_settled();
    all_settled_ = all_settled_ && each_.is_settled();
    no_values_ = no_values_ && value.empty();
    ++chosen_;
  }
  // Removals with `seen` may be traced, for which each key needs a version of its own.
  is_run_ = chosen_ > 1 && all_settled_ && no_values_ && !removals_.front().seen;
  return {begin, end};
}

void RowRemovals::logged(const Node& leaf, Lsn lsn) noexcept {
  if (is_run_)
    keep_run(leaf, lsn);
  else
    keep_each(leaf, lsn);
  if (all_settled_)
    transaction_.settled_leaves.note(leaf, slots_[chosen_ - 1], SettledLeaves::Change::removal,
                                     lsn);
}

void RowRemovals::keep_run(const Node& leaf, Lsn lsn) noexcept {
  const std::span<const Removal> removed = removals_.first(chosen_);
  UndoRecord& record = transaction_.undo->add_run({.kind = UndoRecord::Kind::removed_run,
                                                   .tree = tree_,
                                                   .key_hash = 0,
                                                   .key = {},
                                                   .old_value = {},
                                                   .old_overflow = false,
                                                   .statement = transaction_.statement,
                                                   .previous_lsn = previous_lsn_},
                                                  RemovedRun::bytes_for(removed), removed.size());
  RemovedRun::write(record, removed, lsn);
  transaction_.engine.versions.add_run(record, leaf.id());
}

void RowRemovals::keep_each(const Node& leaf, Lsn lsn) noexcept {
  for (std::size_t i = 0; i < chosen_; ++i) {
    // Undo begins with the last row of the record, and passes on to older records with its first.
    UndoRecord& record = transaction_.undo->add({.kind = UndoRecord::Kind::removed,
                                                 .tree = tree_,
                                                 .key_hash = hashes_[i],
                                                 .key = removals_[i].key,
                                                 .old_value = leaf.value(slots_[i]),
                                                 .old_overflow = false,
                                                 .statement = transaction_.statement,
                                                 .previous_lsn = i == 0 ? previous_lsn_ : lsn});
    if (settled_[i])
      transaction_.engine.versions.add_over_settled(record, leaf.id());
    else
      transaction_.engine.versions.add(record, leaf.id());
  }
}

}  // namespace swizzle
