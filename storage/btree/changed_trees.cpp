#include "storage/btree/changed_trees.h"

#include <algorithm>

#include "wal/record.h"

namespace swizzle {
namespace {

enum class Changes : std::uint8_t { nothing, rows, more };

/// Returns what a transaction's record, which compensates nothing, changes.
Changes changes_of(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::leaf_insert:
    case RecordKind::leaf_update:
    case RecordKind::leaf_remove:
    case RecordKind::leaf_removals:
      return Changes::rows;
    case RecordKind::transaction_prepared:
    case RecordKind::prepared_kept:
    case RecordKind::change_noted:
    case RecordKind::changes_taken_back:
      return Changes::nothing;
    default:
      return Changes::more;
  }
}

}  // namespace

void ChangedTrees::clear() noexcept {
  reported_undo_bytes.store(0, std::memory_order_relaxed);
  is_known_.store(true, std::memory_order_relaxed);
  newest_ = kMost;
  count_.store(0, std::memory_order_relaxed);
}

void ChangedTrees::begin_with(const OpenChanges& changes) noexcept {
  clear();
  reported_undo_bytes.store(changes.undo_bytes, std::memory_order_relaxed);
  const std::size_t count = std::min(changes.trees.size(), kMost);
  for (std::size_t i = 0; i < count; ++i) {
    trees_[i].tree.store(changes.trees[i].tree, std::memory_order_relaxed);
    const std::uint64_t records = std::min<std::uint64_t>(changes.trees[i].records, UINT32_MAX);
    trees_[i].records.store(static_cast<std::uint32_t>(records), std::memory_order_relaxed);
  }
  is_known_.store(changes.is_known && count == changes.trees.size(), std::memory_order_relaxed);
  count_.store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

void ChangedTrees::note_other(RecordKind kind, TreeId tree) noexcept {
  const Changes what = changes_of(kind);
  if (what == Changes::nothing) return;
  const std::uint32_t known = count_.load(std::memory_order_relaxed);
  if (what == Changes::rows) {
    for (std::uint32_t i = 0; i < known; ++i) {
      if (trees_[i].tree.load(std::memory_order_relaxed) != tree) continue;
      newest_ = static_cast<std::uint8_t>(i);
      return count(i);
    }
  }
  if (what == Changes::more || known == kMost) {
    is_known_.store(false, std::memory_order_release);
    return;
  }
  trees_[known].tree.store(tree, std::memory_order_relaxed);
  trees_[known].records.store(1, std::memory_order_relaxed);
  newest_ = static_cast<std::uint8_t>(known);
  count_.store(known + 1, std::memory_order_release);
}

OpenChanges ChangedTrees::read() const {
  OpenChanges changes;
  const std::uint32_t known = count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < known; ++i)
    changes.trees.push_back({trees_[i].tree.load(std::memory_order_relaxed),
                             trees_[i].records.load(std::memory_order_relaxed)});
  changes.undo_bytes = reported_undo_bytes.load(std::memory_order_relaxed);
  changes.is_known = is_known_.load(std::memory_order_acquire);
  return changes;
}

void note_change(OpenChanges& changes, RecordKind kind, TreeId tree, Bytes payload) {
  if (!changes.is_known) return;
  const Changes what = changes_of(kind);
  if (what == Changes::nothing) return;
  auto at = std::ranges::find(changes.trees, tree, &OpenChanges::OfTree::tree);
  const bool is_one_too_many =
      at == changes.trees.end() && changes.trees.size() == ChangedTrees::kMost;
  if (what == Changes::more || is_one_too_many) {
    changes.is_known = false;
    return;
  }
  if (at == changes.trees.end()) at = changes.trees.insert(at, {.tree = tree});
  ++at->records;
  const std::uint64_t rows =
      kind == RecordKind::leaf_removals ? payload::count_leaf_rows(payload) : 1;
  changes.undo_bytes += payload::most_undo_bytes(rows, payload.size());
}

}  // namespace swizzle
