#include "storage/buffer/paged_pool.h"

namespace swizzle {

Result<> PagedPool::read_claimed(PageId page) {
  assert_no_latch_held();
  auto frame = take_frame();
  if (!frame) {
    table_.finish_read(page, nullptr, &frame.error());
    return fail(std::move(frame).error());
  }
  Frame& into = **frame;
  // Nobody else knows the frame: it is in no list, and no reference leads to it. Stale addresses
  // may; the version that its last eviction left behind tells them.
  if (auto read = store_.read_page(page, into.page()); !read) {
    table_.finish_read(page, nullptr, &read.error());
    give_frame(into);
    return fail(std::move(read).error());
  }
  counters_.reads.fetch_add(1, std::memory_order_relaxed);
  into.insert_run = 0;
  into.contention.store(0, std::memory_order_relaxed);
  into.page_id.store(page, std::memory_order_relaxed);
  into.usage.store(1, std::memory_order_relaxed);
  into.state.store(FrameState::unswizzled, std::memory_order_release);
  table_.finish_read(page, &into, nullptr);
  on_loaded(into);
  return {};
}

bool PagedPool::try_evict(Frame& frame) noexcept {
  if (!frame.latch.try_lock_exclusive()) return false;
  const bool idle =
      frame.state.load(std::memory_order_relaxed) == FrameState::unswizzled && frame.is_clean();
  if (!idle || !table_.remove(frame)) {
    frame.latch.unlock_exclusive_unchanged();
    return false;
  }
  // Traditional readers pin first and re-check the page id afterwards; this is the other half.
  const PageId page = frame.page_id.exchange(PageId::none, std::memory_order_seq_cst);
  if (frame.pins.load(std::memory_order_seq_cst) != 0) {
    frame.page_id.store(page, std::memory_order_relaxed);
    table_.insert(frame);
    frame.latch.unlock_exclusive_unchanged();
    return false;
  }
  frame.state.store(FrameState::free, std::memory_order_relaxed);
  frame.latch.unlock_exclusive();
  counters_.evictions.fetch_add(1, std::memory_order_relaxed);
  give_frame(frame);
  return true;
}

void PagedPool::forget(Frame& frame) noexcept {
  if (frame.state.load(std::memory_order_relaxed) == FrameState::unswizzled)
    INVARIANT(table_.remove(frame));
}

}  // namespace swizzle
