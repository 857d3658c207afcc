#include "storage/txn/point_read.h"

#include <cstring>

#include "storage/engine_parts.h"

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
  // A leaf that nobody has changed since `quiet` is visible as it stands: nothing is looked up and
  // nothing shared is written.
  const bool is_whole = view_ == TransactionState::TreeView::whole;
  if (which_ == Which::visible && !(is_whole && transaction_.is_quiet(leaf.logical_lsn()))) {
    const auto version = transaction_.engine.versions.find(
        tree_, key_, hash_of_key(tree_, key_), transaction_.viewer(view_),
        [this](Bytes value, bool overflow) { take(value, overflow); });
    too_old_ = transaction_.is_too_old();
    if (version != VersionIndex::Version::current) return;
  }
  if (at.exact && !leaf.is_ghost(at.index)) take(leaf.value(at.index), leaf.is_overflow(at.index));
}

/// A load may begin while the read is on its way; then what was read is nobody's.
Result<> PointRead::read_visible(AnyTree& tree) {
  while (true) {
    const std::uint32_t loads = tree.birth().loads();
    view_ = transaction_.view_of(tree.birth());
    if (view_ == TransactionState::TreeView::nothing) [[unlikely]] {
      found_ = false;
      return transaction_.check_snapshot();
    }
    ++transaction_.leaf_requests;
    LeafHint& hint = transaction_.hint_for(tree_, key_);
    auto read = tree.read(key_, *this, Interest::keep, &hint);
    if (tree.birth().loads() == loads) [[likely]]
      return read;
    // The leaf need not cover the key, if more leaves were to come.
    hint.forget();
  }
}

Result<bool> PointRead::run(AnyTree& tree) {
  if (which_ == Which::visible) {
    RETURN_IF_ERROR(read_visible(tree));
  } else {
    RETURN_IF_ERROR(tree.birth().require_loaded());
    ++transaction_.leaf_requests;
    RETURN_IF_ERROR(tree.read(key_, *this, Interest::keep, &transaction_.hint_for(tree_, key_)));
  }
  if (too_old_) [[unlikely]]
    RETURN_IF_ERROR(transaction_.check_snapshot());
  return found_;
}

}  // namespace swizzle
