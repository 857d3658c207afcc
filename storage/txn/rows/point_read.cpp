#include "storage/txn/rows/point_read.h"

#include <cstring>
#include <utility>

#include "base/memory/swapped_out.h"
#include "storage/engine_parts.h"
#include "storage/txn/rows/row_changes.h"

namespace swizzle {

void PointRead::take(Bytes value, bool overflow) noexcept {
  const MutableBytes to = into_.prepare(value.size());
  if (!value.empty()) std::memcpy(to.data(), value.data(), value.size());
  found_ = true;
  overflow_ = overflow;
}

void PointRead::visit(const Node& leaf, Node::Position at) noexcept {
  found_ = false;
  too_old_ = false;
  holder_.reset();
  leaf_ = leaf.id();
  is_swapped_out_ = swapped_out::any() && is_swapped_out(leaf);
  if (is_swapped_out_) [[unlikely]]
    return;
  if (wanted_ != lock::Access::none && at.exact && transaction_.versions.has_marks() &&
      !transaction_.is_unmarked(leaf, at.index)) [[unlikely]] {
    const VersionIndex::Mark mark =
        transaction_.mark_of(tree_, key_, hash_of_key(tree_, key_), leaf.id());
    if (mark.excludes(wanted_)) {
      holder_ = mark.holder;
      return;
    }
  }
  if (transaction_.conflicts.marks(tree_)) [[unlikely]]
    mark(leaf, at);
  if (is_in_leaf(leaf) && at.exact && !leaf.is_ghost(at.index))
    take(leaf.value(at.index), leaf.is_overflow(at.index));
}

/// Marks the key, or, if it does not exist, the gap in which it would be.
void PointRead::mark(const Node& leaf, Node::Position at) noexcept {
  if (at.exact)
    transaction_.conflicts.read({tree_, hash_of_key(tree_, key_)}, lock::ReadPart::key);
  else
    transaction_.conflicts.read(gap_before(tree_, leaf, at.index), lock::ReadPart::gap);
}

/// Returns true if versions of the key must be paged in before the read. After some rounds it
/// returns false although they are paged out, since others may swap them out again and again: they
/// are then read under the latch.
bool PointRead::is_swapped_out(const Node& leaf) noexcept {
  constexpr unsigned kMost = 3;
  if (reads_back_ == kMost || (which_ == Which::newest && wanted_ == lock::Access::none))
    return false;
  if (transaction_.now.is_taken && transaction_.is_all_visible(leaf.logical_lsn())) return false;
  return transaction_.engine.versions.first_swapped_out(hash_of_key(tree_, key_), leaf.id()) !=
         nullptr;
}

/// Returns true if versions had to be paged in, and have been: the leaf must then be read once
/// more.
bool PointRead::read_back() {
  if (!std::exchange(is_swapped_out_, false)) [[likely]]
    return false;
  ++reads_back_;
  transaction_.engine.versions.page_in(hash_of_key(tree_, key_), leaf_);
  return true;
}

/// Returns true if the leaf has the wanted version. Otherwise has copied an older one, if any.
bool PointRead::is_in_leaf(const Node& leaf) noexcept {
  if (which_ == Which::newest) return true;
  // A leaf without changes since `all_visible_lsn` is visible as it stands: nothing is looked up
  // and nothing shared is written.
  const bool is_whole =
      which_ != Which::newest_before_statement && view_ == TransactionState::TreeView::whole;
  if (is_whole && transaction_.is_all_visible(leaf.logical_lsn())) return true;
  const std::uint64_t hash = hash_of_key(tree_, key_);
  const auto copy = [this](Bytes value, bool overflow) { take(value, overflow); };
  VersionIndex& versions = transaction_.engine.versions;
  if (which_ == Which::committed) {
    const auto found =
        versions.find_committed(tree_, key_, hash, leaf.id(), transaction_.undo.get(), copy);
    commit_ = found.commit;
    return found.version == VersionIndex::Version::current;
  }
  if (which_ == Which::newest_before_statement) {
    const Viewer viewer = transaction_.viewer_of_newest(view_);
    return versions.find(tree_, key_, hash, leaf.id(), viewer, copy) ==
           VersionIndex::Version::current;
  }
  const auto version =
      versions.find(tree_, key_, hash, leaf.id(), transaction_.viewer(view_), copy);
  too_old_ = transaction_.is_too_old();
  return version == VersionIndex::Version::current;
}

/// A load may begin during the read; then the result is discarded.
Result<> PointRead::read_visible(AnyTree& tree) {
  while (true) {
    const std::uint32_t loads = tree.birth().loads();
    view_ = transaction_.view_of(tree.birth());
    if (view_ != TransactionState::TreeView::whole) [[unlikely]] {
      if (tree.birth().is_closed()) {
        RETURN_IF_ERROR(transaction_.wait_for_losers(tree_, RestartLosers::Changed::many_rows));
        continue;
      }
      // The tree was opened meanwhile.
      if (tree.birth().loads() != loads) continue;
    }
    if (view_ == TransactionState::TreeView::nothing) [[unlikely]] {
      found_ = false;
      return transaction_.check_snapshot();
    }
    ++transaction_.leaf_requests;
    LeafHint& hint = transaction_.hint_for(tree_, key_);
    auto read = tree.read(key_, *this, Interest::keep, &hint);
    if (read_back()) [[unlikely]]
      continue;
    if (tree.birth().loads() == loads) [[likely]]
      return read;
    // While the load was adding leaves, the hint may have got a leaf that does not cover the key.
    hint.forget();
  }
}

Result<bool> PointRead::run(AnyTree& tree) {
  if (which_ == Which::visible) {
    RETURN_IF_ERROR(read_visible(tree));
  } else {
    RETURN_IF_ERROR(tree.birth().require_loaded());
    // With its snapshot the transaction keeps the versions that have been committed since.
    if (which_ == Which::committed) view_ = transaction_.view_of(tree.birth());
    if (which_ == Which::newest_before_statement) view_ = transaction_.newest_view_of(tree.birth());
    do {
      ++transaction_.leaf_requests;
      RETURN_IF_ERROR(tree.read(key_, *this, Interest::keep, &transaction_.hint_for(tree_, key_)));
    } while (read_back());
    transaction_.locks.note_read(commit_);
  }
  if (too_old_) [[unlikely]]
    RETURN_IF_ERROR(transaction_.check_snapshot());
  RETURN_IF_ERROR(transaction_.check_conflicts());
  return found_;
}

}  // namespace swizzle
