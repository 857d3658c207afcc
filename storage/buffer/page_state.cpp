#include "storage/buffer/page_state.h"

namespace swizzle {
namespace {

bool may_refer(const Referrer& parent) noexcept {
  return parent.latch.is_exclusive() &&
         (parent.kind == Referrer::Kind::root_holder ||
          static_cast<const Frame&>(parent).state() == FrameState::swizzled);
}

/// Marks the two moments at which other threads can see a change of the frame.
class Step {
 public:
  Step() noexcept { page_pause(PagePause::before_state); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() { page_pause(PagePause::after_state); }
};

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

void PageState::assign(Frame& frame, PageId page) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::free && frame.page_id() == PageId::none);
  INVARIANT(!frame.is_queued() && page != PageId::none);
  frame.is_compared_.store(false, kRelaxed);
  frame.page_id_.store(page, kRelaxed);
}

void PageState::compared(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.page_id() != PageId::none && frame.latch.is_exclusive());
  frame.is_compared_.store(true, kRelaxed);
}

void PageState::doubted(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.page_id() != PageId::none && frame.latch.is_exclusive());
  frame.is_compared_.store(false, kRelaxed);
}

void PageState::unassign(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::free && frame.page_id() != PageId::none);
  frame.page_id_.store(PageId::none, kRelaxed);
}

void PageState::become_resident(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::free && frame.page_id() != PageId::none);
  // Release: publishes the page with the state.
  frame.state_.store(FrameState::unswizzled, std::memory_order_release);
}

void PageState::become_child(Frame& frame, Referrer& parent) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::free && frame.page_id() != PageId::none);
  INVARIANT(frame.latch.is_exclusive() && may_refer(parent));
  frame.parent_.store(&parent, kRelaxed);
  frame.state_.store(FrameState::swizzled, kRelaxed);
}

void PageState::swizzle(Frame& frame, Referrer& parent) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::unswizzled && frame.page_id() != PageId::none);
  INVARIANT(may_refer(parent));
  frame.parent_.store(&parent, kRelaxed);
  frame.state_.store(FrameState::swizzled, kRelaxed);
}

void PageState::unswizzle(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::swizzled && frame.latch.is_exclusive());
  INVARIANT(may_refer(*frame.parent()));
  // Release: readers read the state without a latch.
  frame.state_.store(FrameState::unswizzled, std::memory_order_release);
  frame.parent_.store(nullptr, kRelaxed);
}

void PageState::move(Frame& frame, Referrer& to) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::swizzled && may_refer(to));
  frame.parent_.store(&to, kRelaxed);
}

PageId PageState::begin_eviction(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::unswizzled && frame.latch.is_exclusive());
  // Readers that pin do so first and read the number afterwards; this is the other side.
  return frame.page_id_.exchange(PageId::none, std::memory_order_seq_cst);
}

void PageState::cancel_eviction(Frame& frame, PageId page) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::unswizzled && frame.latch.is_exclusive());
  frame.page_id_.store(page, kRelaxed);
}

void PageState::end_eviction(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() == FrameState::unswizzled && frame.latch.is_exclusive());
  INVARIANT(frame.page_id() == PageId::none && frame.is_clean());
  frame.state_.store(FrameState::free, kRelaxed);
}

void PageState::release(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() != FrameState::free && frame.latch.is_exclusive());
  frame.page_id_.store(PageId::none, kRelaxed);
  frame.parent_.store(nullptr, kRelaxed);
  frame.state_.store(FrameState::free, kRelaxed);
}

bool PageState::enter_queue(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.state() != FrameState::free);
  if (frame.is_queued()) return false;
  frame.is_queued_.store(true, kRelaxed);
  return true;
}

void PageState::leave_queue(Frame& frame) noexcept {
  const Step step;
  INVARIANT(frame.is_queued() && frame.latch.is_exclusive());
  frame.is_queued_.store(false, kRelaxed);
}

}  // namespace swizzle
