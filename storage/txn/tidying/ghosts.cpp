// Which records that were removed have to stay, and where fences may not come between others.
#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/rows/row_changes.h"

namespace swizzle {

bool LockAwareGhosts::may_remove(const Node& leaf, std::uint16_t index) noexcept {
  if (keeps_all_.load(std::memory_order_relaxed)) [[unlikely]]
    return false;
  std::array<std::byte, Node::kMaxKeyBytes> bytes;
  const Bytes key{bytes.data(), leaf.copy_key(index, bytes.data())};
  const std::uint64_t hash = hash_of_key(leaf.tree(), key);
  if (leaf.tree() == TreeId::directory && trees_ != nullptr && trees_->is_needed(key)) return false;
  // may_have() may keep a ghost without need, but it touches no undo record, which may lie in a
  // file. In the directory the ghosts themselves mean something, so there the exact answer is
  // needed.
  const bool is_wanted = leaf.tree() == TreeId::directory
                             ? versions_.has(leaf.tree(), key, hash, leaf.id())
                             : versions_.may_have(leaf.tree(), key, hash, leaf.id());
  return (!is_wanted || planted(PlantedFault::ghost_removed_early)) &&
         locks_.is_free({leaf.tree(), hash}, lock::kWriteKeyAndGap) &&
         !marks_.is_marked({leaf.tree(), hash}, lock::ReadPart::key_and_gap);
}

void LockAwareGhosts::records_moved(PageId from, PageId to) noexcept {
  versions_.records_moved(from, to);
}

std::size_t LockAwareGhosts::owed_bytes(const Node& leaf, std::uint16_t begin,
                                        std::uint16_t end) noexcept {
  std::size_t owed = 0;
  std::array<std::byte, Node::kMaxKeyBytes> bytes;
  for (std::uint16_t i = begin; i < end; ++i) {
    const Bytes key{bytes.data(), leaf.copy_key(i, bytes.data())};
    const std::size_t before =
        versions_.longest_uncommitted(leaf.tree(), key, hash_of_key(leaf.tree(), key));
    const std::size_t now = leaf.value(i).size();
    owed += before > now ? before - now : 0;
  }
  return owed;
}

bool LockAwareGhosts::may_cut_before(const Node& leaf, std::uint16_t index) noexcept {
  if (planted(PlantedFault::split_ignores_gaps)) return true;
  const lock::LockId gap = gap_before(leaf.tree(), leaf, index);
  return locks_.is_free(gap, lock::kInsertIntoGap) && !marks_.is_marked(gap, lock::ReadPart::gap);
}

bool LockAwareGhosts::may_join_at(TreeId tree, Bytes fence) noexcept {
  const lock::LockId gap{tree, hash_of_key(tree, fence)};
  return locks_.is_free(gap, lock::kInsertIntoGap) && !marks_.is_marked(gap, lock::ReadPart::gap);
}

}  // namespace swizzle
