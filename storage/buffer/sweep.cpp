#include <algorithm>
#include <array>
#include <bitset>

#include "storage/buffer/page_state.h"
#include "storage/buffer/pool_fault.h"
#include "storage/buffer/swizzling_pool.h"

namespace swizzle {
namespace {

bool may_have_children(const Frame& frame) noexcept {
  return load<PageHeader>(frame.page()).level > 0;
}

/// The swizzled children of one page, as they were at one moment. Their frames may have other pages
/// since.
class Children {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] Frame& at(std::uint32_t index) const noexcept { return *frames_[index]; }
  /// True if the child is a branch.
  [[nodiscard]] bool may_have_children_at(std::uint32_t index) const noexcept {
    return have_children_[index];
  }

  /// Collects the children that are swizzled. Pre: latched. A page that is not swizzled (any more)
  /// has none.
  void collect(const PageLayout& layout, Referrer& parent) noexcept {
    if (!SwizzlingPool::may_hold_addresses(parent) && !planted(PoolFault::sweep_trusts_the_parent))
      return;
    for_each_ref(layout, parent, this, [](void* self, PageRef* reference) {
      const PageRef ref = load_ref(reference);
      if (ref.is_swizzled()) static_cast<Children*>(self)->add(*ref.frame());
    });
  }

  static void for_each_ref(const PageLayout& layout, Referrer& parent, void* context,
                           PageLayout::RefVisitor visit) noexcept {
    if (parent.kind == Referrer::Kind::root_holder)
      visit(context, &static_cast<RootHolder&>(parent).reference);
    else
      layout.visit_refs(static_cast<Frame&>(parent).page(), visit, context);
  }

 private:
  void add(Frame& frame) noexcept {
    if (count_ == frames_.size()) return;
    have_children_[count_] = may_have_children(frame);
    frames_[count_++] = &frame;
  }
  std::array<Frame*, kPageBytes / 16> frames_;
  std::bitset<kPageBytes / 16> have_children_;
  std::uint32_t count_ = 0;
};

}  // namespace

/// Unswizzles about `wanted` pages, beginning where the last sweep stopped. One sweep at a time;
/// other threads use its results.
void SwizzlingPool::sweep(std::uint32_t wanted) noexcept {
  if (sweeping_.exchange(true, std::memory_order_acquire)) return;
  counters_.sweeps.fetch_add(1, std::memory_order_relaxed);
  sweep_steps_ = 0;
  const std::lock_guard hold(roots_mutex_);
  // A sweep visits every page kMaxUsage + 1 times before all its second chances are used up.
  std::size_t roots_left = roots_.size() * (Frame::kMaxUsage + 1);
  constexpr std::size_t kFetchedAhead = 8;
  constexpr std::uint32_t kAbsentPerStep = 16;
  std::uint32_t absent = 0;
  while (wanted > 0 && roots_left > 0 && sweep_steps_ < kMostSteps) {
    if (sweep_root_ >= roots_.size()) sweep_root_ = 0;
    // Trees without pages in memory are many; each costs a look.
    __builtin_prefetch(roots_[(sweep_root_ + kFetchedAhead) % roots_.size()]);
    if (!load_ref(&roots_[sweep_root_]->reference).is_swizzled()) {
      if (++absent % kAbsentPerStep == 0) ++sweep_steps_;
      sweep_path_.clear();
      ++sweep_root_;
      --roots_left;
      continue;
    }
    ++sweep_steps_;
    const std::uint32_t cooled = sweep_below(*roots_[sweep_root_], 0, wanted);
    wanted -= std::min(wanted, cooled);
    if (wanted > 0 && (sweep_path_.empty() || sweep_steps_ < kMostSteps)) {
      sweep_path_.clear();
      ++sweep_root_;
      --roots_left;
    }
  }
  note_steps(sweep_steps_);
  sweeping_.store(false, std::memory_order_release);
}

/// Depth-first, children before parents. Returns how many pages it unswizzled. When `wanted` is
/// reached, or enough pages were visited for one round, sweep_path_ says where to continue.
std::uint32_t SwizzlingPool::sweep_below(Referrer& parent, std::size_t depth,
                                         std::uint32_t wanted) noexcept {
  Children children;
  {
    page_pause(PagePause::between_looks);
    if (!parent.latch.try_lock_shared()) return 0;
    children.collect(layout_, parent);
    parent.latch.unlock_shared();
  }
  if (sweep_path_.size() <= depth) sweep_path_.resize(depth + 1, 0);
  std::uint32_t cooled = 0;
  for (std::uint32_t i = sweep_path_[depth]; i < children.count(); ++i) {
    Frame& child = children.at(i);
    if (children.may_have_children_at(i)) {
      cooled += sweep_below(child, depth + 1, wanted - cooled);
      const bool was_all = sweep_path_.size() == depth + 1;
      if (cooled >= wanted || sweep_steps_ >= kMostSteps) {
        sweep_path_[depth] = static_cast<std::uint16_t>(was_all ? i + 1 : i);
        return cooled;
      }
    }
    ++sweep_steps_;
    const std::uint8_t usage = child.usage.load(std::memory_order_relaxed);
    if (usage > 0)
      child.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
  }
  sweep_path_.resize(depth);
  return cooled + unswizzle_unused_children(parent);
}

std::uint32_t SwizzlingPool::unswizzle_unused_children(Referrer& parent) noexcept {
  page_pause(PagePause::between_looks);
  ExclusiveGuard hold = ExclusiveGuard::try_lock(parent.latch);
  if (!hold) return 0;
  // The page may have been merged away since its children were visited. The frame then still shows
  // addresses that are in another page by now.
  if (!may_hold_addresses(parent) && !planted(PoolFault::sweep_trusts_the_parent)) {
    hold.release_unchanged();
    return 0;
  }
  struct Pass {
    SwizzlingPool* pool;
    std::uint32_t count = 0;
  } pass{this};
  Children::for_each_ref(layout_, parent, &pass, [](void* context, PageRef* reference) {
    auto* self = static_cast<Pass*>(context);
    const PageRef ref = load_ref(reference);
    if (!ref.is_swizzled() || ref.frame()->usage.load(std::memory_order_relaxed) > 0) return;
    if (self->pool->try_unswizzle(reference, *ref.frame())) ++self->count;
  });
  if (pass.count == 0) hold.release_unchanged();
  return pass.count;
}

/// Pre: the parent is held exclusively, and `at` in it refers to `child`.
bool SwizzlingPool::try_unswizzle(PageRef* at, Frame& child) noexcept {
  if (!child.latch.try_lock_exclusive()) return false;
  struct Pass {
    SwizzlingPool* pool;
    bool foster_only;
    bool keeps_swizzled = false;
  } pass{this, !may_have_children(child)};
  layout_.visit_refs(
      child.page(),
      [](void* context, PageRef* reference) {
        auto* self = static_cast<Pass*>(context);
        const PageRef ref = load_ref(reference);
        if (!ref.is_swizzled()) return;
        // The sweep descends by levels, so it reaches a foster child here, through its foster
        // parent.
        if (!self->foster_only || !self->pool->cool(reference, *ref.frame()))
          self->keeps_swizzled = true;
      },
      &pass);
  if (!pass.keeps_swizzled) {
    // In this order a reader that sees the page id finds the page in the table.
    PageState::unswizzle(child);
    table_.insert(child);
    store_ref(at, PageRef{child.page_id()});
    counters_.unswizzled.fetch_add(1, std::memory_order_relaxed);
    enqueue(child);
  }
  child.latch.unlock_exclusive();
  return !pass.keeps_swizzled;
}

bool SwizzlingPool::cool(PageRef* at, Frame& child) noexcept {
  // Such a policy unswizzles pages itself.
  if (policy_ != nullptr) return false;
  const std::uint8_t usage = child.usage.load(std::memory_order_relaxed);
  if (usage == 0 || replacement_ == Replacement::cooling_fifo) return try_unswizzle(at, child);
  child.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
  return false;
}

/// Unswizzles about `wanted` random pages. One caller at a time, as for sweep().
void SwizzlingPool::cool_at_random(std::uint32_t wanted) noexcept {
  if (sweeping_.exchange(true, std::memory_order_acquire)) return;
  counters_.sweeps.fetch_add(1, std::memory_order_relaxed);
  for (std::uint64_t tries = std::uint64_t{8} * wanted + 64; tries > 0 && wanted > 0; --tries) {
    Frame* frame = arena_.nth_used(random_());
    if (frame == nullptr) break;
    // A page with swizzled children cannot be unswizzled; one of those is taken instead.
    Children children;
    while (frame->state() == FrameState::swizzled && may_have_children(*frame)) {
      if (!frame->latch.try_lock_shared()) break;
      children = Children{};
      children.collect(layout_, *frame);
      frame->latch.unlock_shared();
      if (children.count() == 0) break;
      frame = &children.at(static_cast<std::uint32_t>(random_.below(children.count())));
    }
    if (frame->state() == FrameState::swizzled && unswizzle_by_parent(*frame)) --wanted;
  }
  sweeping_.store(false, std::memory_order_release);
}

/// Returns false when the page, or its parent, is latched, when it has swizzled children, or when
/// it is not swizzled any more.
bool SwizzlingPool::unswizzle_by_parent(Frame& child) noexcept {
  Referrer* const parent = child.parent();
  if (parent == nullptr) return false;
  // The frame exists, whatever page it has by now. A root's holder may be gone with its tree.
  if (arena_.contains(parent)) return unswizzle_in(*parent, child);
  const std::unique_lock hold(roots_mutex_, std::try_to_lock);
  return hold && std::ranges::find(roots_, parent) != roots_.end() && unswizzle_in(*parent, child);
}

bool SwizzlingPool::unswizzle_in(Referrer& parent, Frame& child) noexcept {
  ExclusiveGuard hold = ExclusiveGuard::try_lock(parent.latch);
  if (!hold) return false;
  // Both change only under this latch.
  const bool is_ours = child.state() == FrameState::swizzled && child.parent() == &parent;
  struct Search {
    Frame* wanted;
    PageRef* found = nullptr;
  } search{&child};
  if (is_ours)
    Children::for_each_ref(layout_, parent, &search, [](void* context, PageRef* reference) {
      auto* self = static_cast<Search*>(context);
      const PageRef ref = load_ref(reference);
      if (ref.is_swizzled() && ref.frame() == self->wanted) self->found = reference;
    });
  const bool done = search.found != nullptr && try_unswizzle(search.found, child);
  if (!done) hold.release_unchanged();
  return done;
}

}  // namespace swizzle
