#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "storage/btree/records.h"

namespace swizzle {

/// The trees that a transaction without an end has changed, as far as a checkpoint and the log
/// after it tell: a restart need not read the records of a transaction that has changed many rows
/// of each (rule R15).
struct OpenChanges {
  struct OfTree {
    TreeId tree{};
    /// Number of log records of changes; a record may have several rows.
    std::uint64_t records = 0;
  };
  std::vector<OfTree> trees = {};
  /// Most bytes that undoing all of it adds to the log.
  std::uint64_t undo_bytes = 0;
  /// False: it may have changed more, so its records must be read.
  bool is_known = false;
};

/// The same of a running transaction. Its owner writes, checkpoints read.
class alignas(64) ChangedTrees {
 public:
  /// A transaction with more trees is not known.
  static constexpr std::size_t kMost = 14;

  /// Begins a transaction.
  void clear() noexcept;
  /// The transaction, of before a restart, has these changes and may get others.
  void begin_with(const OpenChanges& changes) noexcept;
  /// Call before a record is appended, unless it compensates one.
  void note(RecordKind kind, TreeId tree) noexcept {
    if (kind <= RecordKind::leaf_removals && newest_ < kMost &&
        trees_[newest_].tree.load(std::memory_order_relaxed) == tree) [[likely]] {
      count(newest_);
      return;
    }
    note_other(kind, tree);
  }
  /// Thread-safe; exact for what was noted before the call.
  [[nodiscard]] OpenChanges read() const;

  /// Most bytes that undoing adds to the log, as far as that was reported to the log.
  std::atomic<std::uint64_t> reported_undo_bytes{0};

 private:
  void note_other(RecordKind kind, TreeId tree) noexcept;
  void count(std::size_t index) noexcept {
    std::atomic<std::uint32_t>& records = trees_[index].records;
    const std::uint32_t before = records.load(std::memory_order_relaxed);
    if (before != UINT32_MAX) records.store(before + 1, std::memory_order_relaxed);
  }

  struct Tree {
    std::atomic<TreeId> tree{TreeId{}};
    std::atomic<std::uint32_t> records{0};
  };
  /// Of `trees_`. Release: publishes the trees before it.
  std::atomic<std::uint32_t> count_{0};
  std::atomic<bool> is_known_{true};
  /// Index of the tree of the last record, the owner's; kMost: none.
  std::uint8_t newest_ = kMost;
  std::array<Tree, kMost> trees_;
};
static_assert(sizeof(ChangedTrees) == 128);

/// The effect of a transaction's record on `changes`: one more record of its tree, more to undo, or
/// something else than rows, after which they are not known. Pre: it compensates nothing.
void note_change(OpenChanges& changes, RecordKind kind, TreeId tree, Bytes payload);

}  // namespace swizzle
