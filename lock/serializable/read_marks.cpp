#include "lock/serializable/read_marks.h"

#include <bit>
#include <new>
#include <utility>

#include "base/invariant.h"

namespace swizzle::lock {
namespace {

constexpr std::size_t kMostReadersOfAll = 16'384;

}  // namespace

ReadMarks::ReadMarks(const Limits& limits)
    : limits_(limits),
      mask_(std::bit_ceil(limits.buckets) - 1),
      buckets_(static_cast<Bucket*>(std::calloc(mask_ + 1, sizeof(Bucket)))) {
  if (buckets_ == nullptr) throw std::bad_alloc{};
  // add_all() must not fail: it is what is left when memory is short.
  have_read_all_.reserve(kMostReadersOfAll);
}

void ReadMarks::add(MarkOwner& owner, LockId id, ReadPart part) noexcept {
  if (is_whole(owner, id.tree)) return;
  MarkOwner::OfTree* of_tree = owner.find(id.tree);
  if (of_tree == nullptr) {
    try {
      of_tree = &owner.trees_.emplace_back(MarkOwner::OfTree{.tree = id.tree});
    } catch (const std::bad_alloc&) {
      return add_all(owner);
    }
  }
  if (of_tree->count >= limits_.of_tree || owner.count_ >= limits_.of_owner)
    return mark_tree(owner, id.tree);
  switch (put(owner, id, part, false)) {
    case Added::was_there:
      return;
    case Added::no_memory:
      return add_all(owner);
    case Added::yes:
      break;
  }
  ++of_tree->count;
  ++owner.count_;
}

std::vector<ReadMarkRow> ReadMarks::rows() const {
  using enum ReadMarkRow::Of;
  std::vector<ReadMarkRow> all;
  // Memory is allocated without latches.
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::size_t before = all.size();
    for (std::size_t wanted = 1;; all.resize(before), all.reserve(2 * (before + wanted))) {
      wanted = 0;
      visit_bucket(buckets_[i], [&](const ReadMark& mark) {
        ++wanted;
        if (all.size() == all.capacity()) return;
        all.push_back({mark.owner->label_, mark.is_of_tree ? tree : key, mark.id.tree});
      });
      if (all.size() - before == wanted) break;
    }
  }
  all.reserve(all.size() + kMostReadersOfAll);
  const std::lock_guard hold(all_latch_);
  for (const MarkOwner* const owner : have_read_all_)
    all.push_back({owner->label_, everything, TreeId::directory});
  return all;
}

void ReadMarks::add_all(MarkOwner& owner) noexcept {
  const std::lock_guard hold(all_latch_);
  if (owner.has_read_all_.load(std::memory_order_relaxed)) return;
  INVARIANT(have_read_all_.size() < kMostReadersOfAll);
  have_read_all_.push_back(&owner);
  owner.has_read_all_.store(true, std::memory_order_relaxed);
  readers_of_all_.fetch_add(1, std::memory_order_seq_cst);
  count_.fetch_add(1, std::memory_order_seq_cst);
}

ReadMarks::Added ReadMarks::put(MarkOwner& owner, LockId id, ReadPart part,
                                bool is_of_tree) noexcept {
  const Bucket& bucket = is_of_tree ? tree_bucket(id.tree) : key_bucket(id);
  const std::lock_guard hold(bucket.latch);
  std::size_t looked_at = 0;
  // An owner's mark that is further behind gets a second one beside it, which does no harm.
  for (ReadMark* at = bucket.first; at != nullptr && looked_at < kPortion;
       at = at->next, ++looked_at) {
    if (at->owner != &owner || at->is_of_tree != is_of_tree || at->id != id) continue;
    at->part = ReadPart(
        static_cast<std::uint8_t>(std::to_underlying(at->part) | std::to_underlying(part)));
    return Added::was_there;
  }
  auto* const mark = new (std::nothrow) ReadMark;
  if (mark == nullptr) return Added::no_memory;
  mark->owner = &owner;
  mark->id = id;
  mark->part = part;
  mark->is_of_tree = is_of_tree;
  {
    const std::lock_guard hold_owner(owner.latch_);
    mark->next_of_owner = std::exchange(owner.first_, mark);
  }
  // Before the mark can be found, so that a writer that finds no marks has come first.
  count_.fetch_add(1, std::memory_order_seq_cst);
  bucket.put_before(bucket.first, *mark);
  return Added::yes;
}

/// Marks the whole tree, in place of the owner's marks on its keys.
void ReadMarks::mark_tree(MarkOwner& owner, TreeId tree) noexcept {
  if (put(owner, {tree, 0}, ReadPart::key_and_gap, true) == Added::no_memory) return add_all(owner);
  MarkOwner::OfTree* const of_tree = owner.find(tree);
  if (of_tree != nullptr) {
    of_tree->is_whole = true;
    owner.count_ -= of_tree->count;
    of_tree->count = 0;
  }
  remove(owner, tree);
}

void ReadMarks::coarsen(MarkOwner& owner) noexcept {
  if (owner.has_read_all_.load(std::memory_order_relaxed)) return;
  for (std::size_t i = 0; i < owner.trees_.size(); ++i)
    if (!owner.trees_[i].is_whole) mark_tree(owner, owner.trees_[i].tree);
}

/// Removes the owner's marks on keys and gaps of the tree.
void ReadMarks::remove(MarkOwner& owner, TreeId tree) noexcept {
  remove_if(owner,
            [tree](const ReadMark& mark) { return !mark.is_of_tree && mark.id.tree == tree; });
}

void ReadMarks::remove_all(MarkOwner& owner) noexcept {
  remove_if(owner, [](const ReadMark&) { return true; });
  const std::lock_guard hold(all_latch_);
  if (!owner.has_read_all_.load(std::memory_order_relaxed)) return;
  std::erase(have_read_all_, &owner);
  readers_of_all_.fetch_sub(1, std::memory_order_relaxed);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

/// Takes a portion of the owner's marks out of its list. Returns null if there is none; then `kept`
/// is the list.
ReadMark* ReadMarks::take_portion(MarkOwner& owner, ReadMark*& kept) noexcept {
  const std::lock_guard hold(owner.latch_);
  ReadMark* const portion = owner.first_;
  if (portion == nullptr) {
    owner.first_ = std::exchange(kept, nullptr);
    return nullptr;
  }
  ReadMark* last = portion;
  for (std::size_t i = 1; i < kPortion && last->next_of_owner != nullptr; ++i)
    last = last->next_of_owner;
  owner.first_ = std::exchange(last->next_of_owner, nullptr);
  return portion;
}

template <class Wanted>
void ReadMarks::remove_if(MarkOwner& owner, Wanted&& wanted) noexcept {
  ReadMark* kept = nullptr;
  while (true) {
    // No gap is split meanwhile. Between two portions one may be, and then the owner gets marks
    // beside those that are left; so the end is where none are left.
    const std::lock_guard hold_shape(shape_latch_);
    ReadMark* at = take_portion(owner, kept);
    if (at == nullptr) return;
    while (at != nullptr) {
      ReadMark* const mark = std::exchange(at, at->next_of_owner);
      if (!wanted(*mark)) {
        mark->next_of_owner = std::exchange(kept, mark);
        continue;
      }
      const Bucket& bucket = mark->is_of_tree ? tree_bucket(mark->id.tree) : key_bucket(mark->id);
      {
        const std::lock_guard hold(bucket.latch);
        bucket.take_out(*mark);
      }
      delete mark;
      count_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

bool ReadMarks::is_marked(LockId id, ReadPart part) const noexcept {
  if (empty()) return false;
  bool found = false;
  visit_bucket(key_bucket(id), [&](const ReadMark& mark) {
    found = found || (!mark.is_of_tree && mark.id == id && overlap(mark.part, part));
  });
  return found;
}

void ReadMarks::split_gap(LockId before, LockId inserted) noexcept {
  if (!is_marked(before, ReadPart::gap)) return;
  // Two latches of buckets are never held at once, so owners are collected in portions, and stay as
  // long as the shape is held. Marks that come meanwhile are of readers that find the leaf changed,
  // and set their marks again.
  std::unique_lock hold_shape(shape_latch_);
  std::array<MarkOwner*, kPortion> owners{};
  std::size_t found = 0;
  visit_in_portions(
      key_bucket(before),
      [&](const ReadMark& mark) {
        if (!mark.is_of_tree && mark.id == before && overlap(mark.part, ReadPart::gap))
          owners[found++] = mark.owner;
      },
      [&] {
        for (std::size_t i = 0; i < found; ++i)
          if (put(*owners[i], inserted, ReadPart::gap, false) == Added::no_memory)
            add_all(*owners[i]);
        found = 0;
        hold_shape.unlock();
        hold_shape.lock();
      });
}

}  // namespace swizzle::lock
