#include <algorithm>
#include <array>

#include "storage/buffer/swizzling_pool.h"

namespace swizzle {
namespace {

/// The swizzled children of one page, as they were at one moment.
class Children {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] Frame& at(std::uint32_t index) const noexcept { return *frames_[index]; }

  void collect(const PageLayout& layout, Referrer& parent) noexcept {
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
    if (count_ < frames_.size()) frames_[count_++] = &frame;
  }
  std::array<Frame*, kPageBytes / 16> frames_;
  std::uint32_t count_ = 0;
};

bool may_have_children(const Frame& frame) noexcept {
  return load<PageHeader>(frame.page()).level > 0;
}

}  // namespace

/// Unswizzles about `wanted` pages, going on where the last sweep stopped. One at a time: others
/// find what it leaves.
void SwizzlingPool::sweep(std::uint32_t wanted) noexcept {
  if (sweeping_.exchange(true, std::memory_order_acquire)) return;
  counters_.sweeps.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard hold(roots_mutex_);
  // Every page is met kMaxUsage + 1 times before all of its second chances are used up.
  std::size_t roots_left = roots_.size() * (Frame::kMaxUsage + 1);
  while (wanted > 0 && roots_left > 0) {
    if (sweep_root_ >= roots_.size()) sweep_root_ = 0;
    const std::uint32_t cooled = sweep_below(*roots_[sweep_root_], 0, wanted);
    wanted -= std::min(wanted, cooled);
    if (wanted > 0) {
      sweep_path_.clear();
      ++sweep_root_;
      --roots_left;
    }
  }
  sweeping_.store(false, std::memory_order_release);
}

/// Depth-first, children before parents. Returns how many pages it unswizzled; when `wanted` is
/// reached, sweep_path_ says where to go on.
std::uint32_t SwizzlingPool::sweep_below(Referrer& parent, std::size_t depth,
                                         std::uint32_t wanted) noexcept {
  Children children;
  {
    if (!parent.latch.try_lock_shared()) return 0;
    children.collect(layout_, parent);
    parent.latch.unlock_shared();
  }
  if (sweep_path_.size() <= depth) sweep_path_.resize(depth + 1, 0);
  std::uint32_t cooled = 0;
  for (std::uint32_t i = sweep_path_[depth]; i < children.count(); ++i) {
    Frame& child = children.at(i);
    if (may_have_children(child)) {
      cooled += sweep_below(child, depth + 1, wanted - cooled);
      if (cooled >= wanted) {
        sweep_path_[depth] = static_cast<std::uint16_t>(i);
        return cooled;
      }
    }
    const std::uint8_t usage = child.usage.load(std::memory_order_relaxed);
    if (usage > 0)
      child.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
  }
  sweep_path_.resize(depth);
  return cooled + unswizzle_unused_children(parent);
}

std::uint32_t SwizzlingPool::unswizzle_unused_children(Referrer& parent) noexcept {
  ExclusiveGuard hold = ExclusiveGuard::try_lock(parent.latch);
  if (!hold) return 0;
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
        // The sweep descends by levels, so a foster child is met here, through its foster parent.
        if (!self->foster_only || !self->pool->cool(reference, *ref.frame()))
          self->keeps_swizzled = true;
      },
      &pass);
  if (!pass.keeps_swizzled) {
    // In this order a reader who sees the page id finds the page in the table.
    child.state.store(FrameState::unswizzled, std::memory_order_relaxed);
    child.parent.store(nullptr, std::memory_order_relaxed);
    table_.insert(child);
    store_ref(at, PageRef{child.page_id.load(std::memory_order_relaxed)});
    counters_.unswizzled.fetch_add(1, std::memory_order_relaxed);
    enqueue(child);
  }
  child.latch.unlock_exclusive();
  return !pass.keeps_swizzled;
}

bool SwizzlingPool::cool(PageRef* at, Frame& child) noexcept {
  const std::uint8_t usage = child.usage.load(std::memory_order_relaxed);
  if (usage == 0) return try_unswizzle(at, child);
  child.usage.store(static_cast<std::uint8_t>(usage - 1), std::memory_order_relaxed);
  return false;
}

}  // namespace swizzle
