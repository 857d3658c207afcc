#include "storage/txn/tidying/leftovers.h"

#include <mutex>
#include <new>
#include <optional>

#include "storage/btree/node_layout.h"
#include "storage/engine_parts.h"
#include "storage/txn/tidying/leaf_tidier.h"

namespace swizzle {
namespace {

/// Of redone leaves; the others are found by VACUUM, a scan, or after the next start.
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
/// Leaves that one round gives hints for.
constexpr int kAtOnce = 64;
/// While more hints wait, those of the running work come first.
constexpr std::size_t kManyHints = 256;

/// Returns a key of the leaf: every key has at least one byte.
std::string key_in(const Node& leaf) {
  const std::string_view low = as_text(leaf.low_fence());
  return low.empty() ? std::string(1, '\0') : std::string(low);
}

}  // namespace

void Leftovers::start() {
  passed_over_ = engine_.prepared.created_trees();
}

void Leftovers::redone(const std::byte* page) noexcept {
  if (!has_space_to_give_back(page)) return;
  const Node& leaf = Node::of(page);
  try {
    Leaf found{leaf.tree(), key_in(leaf)};
    const std::lock_guard hold(redone_mutex_);
    if (redone_bytes_ >= kMostBytes) return;
    redone_bytes_ += sizeof(Leaf) + found.key.size();
    redone_.push_back(std::move(found));
  } catch (const std::bad_alloc&) {
    // Found later, as those beyond the bound.
  }
}

void Leftovers::hint_some(LeafTidier& tidier) {
  // Until the losers are rolled back no ghost goes (R15).
  if (is_over_ || engine_.losers.count() != 0) return;
  const bool is_redo_over = engine_.pending->count() == 0;
  int left = kAtOnce;
  bool has_more = true;
  while (left > 0 && has_more && tidier.hints() < kManyHints) {
    --left;
    has_more = hint_redone(tidier) || hint_written(tidier);
  }
  is_over_ = !has_more && is_redo_over;
}

/// Returns false if there is none.
bool Leftovers::hint_redone(LeafTidier& tidier) {
  std::optional<Leaf> leaf;
  {
    const std::lock_guard hold(redone_mutex_);
    if (redone_.empty()) return false;
    leaf = std::move(redone_.front());
    redone_.pop_front();
    redone_bytes_ -= sizeof(Leaf) + leaf->key.size();
  }
  hint_for(tidier, *leaf);
  return true;
}

/// The next page of the file. Its copy on disk tells the tree and a key; where it is older than the
/// page in memory that is nearly always right, and a wrong hint costs a visit. Returns false if
/// there is none.
bool Leftovers::hint_written(LeafTidier& tidier) {
  if (engine_.untidy == nullptr) return false;
  const std::optional<PageId> page = engine_.untidy->next(next_);
  if (!page) return false;
  next_ = PageId{raw(*page) + 1};
  if (!engine_.space->is_allocated(*page)) {
    engine_.untidy->forget(*page);
    return true;
  }
  // Readers of a damaged page are told of it.
  if (!engine_.volume->read_page(*page, page_.data())) return true;
  if (!has_space_to_give_back(page_.data())) return true;
  const Node& leaf = Node::of(page_.data());
  hint_for(tidier, {leaf.tree(), key_in(leaf)});
  return true;
}

/// Opens the tree, since the tidier passes over trees that are not open.
void Leftovers::hint_for(LeafTidier& tidier, const Leaf& leaf) {
  if (passed_over_.contains(leaf.tree)) return;
  const TreeTable::Hold hold(*engine_.trees);
  if (!engine_.trees->find(leaf.tree)) return;
  tidier.hint(leaf.tree, as_bytes(leaf.key), as_bytes(leaf.key));
}

}  // namespace swizzle
