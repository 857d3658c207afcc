#include "storage/buffer/buffer_pool.h"

#include "storage/buffer/page_state.h"
#include "storage/buffer/pool_fault.h"

namespace swizzle {

NewPage& NewPage::operator=(NewPage&& other) noexcept {
  if (this != &other) {
    std::swap(pool_, other.pool_);
    std::swap(id_, other.id_);
    std::swap(frame_, other.frame_);
    std::swap(latched_, other.latched_);
  }
  return *this;
}

NewPage::~NewPage() {
  if (pool_ == nullptr) return;
  PageState::unassign(*frame_);
  if (latched_) frame_->latch.unlock_exclusive();
  pool_->give_frame(*frame_);
  pool_->store_.cancel_reservation(id_);
}

Frame& NewPage::publish() noexcept {
  INVARIANT(latched_);
  PageState::compared(*frame_);
  std::exchange(pool_, nullptr)->store_.mark_allocated(id_);
  return *frame_;
}

std::optional<TreeId> BufferPool::owner_in_memory(PageId page) {
  std::optional<TreeId> owner;
  arena_.for_each_used([&](Frame& frame) {
    if (owner || frame.page_id() != page) return;
    const SharedGuard hold(frame.latch);
    if (frame.page_id() == page && frame.state() != FrameState::free)
      owner = load<PageHeader>(frame.page()).tree;
  });
  return owner;
}

Frame* BufferPool::try_take_frame() noexcept {
  if (Frame* frame = free_.pop(arena_)) return frame;
  return arena_.first_use();
}

Result<Frame*> BufferPool::take_frame(PageId incoming) {
  assert_no_latch_held();
  while (true) {
    if (Frame* frame = try_take_frame()) return frame;
    RETURN_IF_ERROR(make_room(incoming));
  }
}

Result<NewPage> BufferPool::new_page(std::optional<PageId> near) {
  ASSIGN_OR_RETURN(Frame* const frame, take_frame());
  auto page = store_.reserve_page(near);
  if (!page) {
    give_frame(*frame);
    return fail(std::move(page).error());
  }
  frame->inserts = {};
  frame->contention.store(0, std::memory_order_relaxed);
  PageState::assign(*frame, *page);
  frame->usage.store(entry_usage_, std::memory_order_relaxed);
  return NewPage{*this, *page, *frame};
}

void BufferPool::release_frame(Frame& frame) noexcept {
  INVARIANT(frame.latch.is_exclusive());
  forget(frame);
  frame.dirty_since.store(Lsn::none, std::memory_order_relaxed);
  PageState::release(frame);
  // A frame is in one queue at a time. If it still waits for the clock hand, the hand frees it.
  const bool is_queued = frame.is_queued();
  frame.latch.unlock_exclusive();
  if (!is_queued) give_frame(frame);
}

void BufferPool::free_page(Frame& frame) noexcept {
  const PageId page = frame.page_id();
  release_frame(frame);
  store_.mark_free(page);
}

void BufferPool::drop_swizzled(PageRef* at) noexcept {
  const PageRef ref = load_ref(at);
  if (!ref.is_swizzled()) return;
  Frame& frame = *ref.frame();
  const auto drop_children = [&] {
    layout_.visit_refs(
        frame.page(),
        [](void* pool, PageRef* child) { static_cast<BufferPool*>(pool)->drop_swizzled(child); },
        this);
  };
  if (planted(PoolFault::dropped_without_a_look)) drop_children();
  // First, or the sweep could evict the page while it is looked at.
  frame.latch.lock_exclusive();
  if (!planted(PoolFault::dropped_without_a_look)) drop_children();
  release_frame(frame);
}

void BufferPool::drop_unswizzled(std::span<const PageId> pages) noexcept {
  for (const PageId page : pages) {
    Frame* frame = find_unswizzled(page);
    if (frame == nullptr) continue;
    frame->latch.lock_exclusive();
    // The evictor may have been faster.
    if (frame->page_id() == page)
      release_frame(*frame);
    else
      frame->latch.unlock_exclusive_unchanged();
  }
}

void BufferPool::unlink(Frame& frame) noexcept {
  Referrer& parent = *frame.parent();
  parent.latch.lock_exclusive();
  const auto replace = [](void* context, PageRef* at) {
    auto* const child = static_cast<Frame*>(context);
    const PageRef ref = load_ref(at);
    if (ref.is_swizzled() && ref.frame() == child) store_ref(at, PageRef{child->page_id()});
  };
  if (parent.kind == Referrer::Kind::root_holder)
    replace(&frame, &static_cast<RootHolder&>(parent).reference);
  else
    layout_.visit_refs(static_cast<Frame&>(parent).page(), replace, &frame);
  parent.latch.unlock_exclusive();
}

void BufferPool::drop_outdated(const std::unordered_set<PageId>& pages) noexcept {
  arena_.for_each_used([&](Frame& frame) {
    const FrameState state = frame.state();
    const PageId page = frame.page_id();
    if (state == FrameState::free || !pages.contains(page)) return;
    INVARIANT(frame.is_clean());
    if (state == FrameState::unswizzled) return drop_unswizzled({&page, 1});
    unlink(frame);
    PageRef reference{&frame};
    drop_swizzled(&reference);
  });
}

}  // namespace swizzle
