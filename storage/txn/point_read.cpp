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
  if (which_ == Which::visible && !transaction_.is_quiet(leaf.logical_lsn())) {
    const auto version = transaction_.engine.versions.find(
        tree_, key_, hash_of_key(tree_, key_), transaction_.viewer(),
        [this](Bytes value, bool overflow) { take(value, overflow); });
    too_old_ = transaction_.is_too_old();
    if (version != VersionIndex::Version::current) return;
  }
  if (at.exact && !leaf.is_ghost(at.index)) take(leaf.value(at.index), leaf.is_overflow(at.index));
}

Result<bool> PointRead::run(AnyTree& tree) {
  if (which_ == Which::visible) {
    transaction_.view();
    if (!tree.birth().is_visible_to(transaction_.viewer())) [[unlikely]]
      return false;
  } else {
    RETURN_IF_ERROR(tree.birth().require_loaded());
  }
  ++transaction_.leaf_requests;
  RETURN_IF_ERROR(tree.read(key_, *this, Interest::keep, &transaction_.hint_for(tree_)));
  if (too_old_) [[unlikely]]
    RETURN_IF_ERROR(transaction_.check_snapshot());
  return found_;
}

}  // namespace swizzle
