#include "storage/buffer/paged_pool.h"

#include <algorithm>
#include <cstring>

#include "base/runtime/asked_to_end.h"
#include "base/sqlstate.h"
#include "storage/buffer/page_state.h"
#include "storage/buffer/pool_fault.h"

namespace swizzle {
namespace {

/// True if the policy uses reported accesses. For others the pages' usage counters are kept
/// saturated, so that accesses report nothing.
bool hears_of_uses(Replacement policy) noexcept {
  return policy != Replacement::random;
}

ReplacementOptions for_frames(ReplacementOptions options, std::uint32_t frames) noexcept {
  options.frames = frames;
  return options;
}

}  // namespace

PagedPool::PagedPool(FrameArena arena, PageStore& store, PageLayout layout,
                     const ReplacementOptions& options)
    : BufferPool(std::move(arena), store, layout),
      table_(arena_.count()),
      policy_(make_replacement(for_frames(options, arena_.count()))),
      // Leave enough frames for reads that are waited for.
      most_ahead_(std::min(ReadsAhead::kMost, arena_.count() / 8)),
      batch_(std::clamp(arena_.count() / 64, 1U, 16U)) {
  if (policy_ != nullptr) entry_usage_ = hears_of_uses(options.policy) ? 0 : Frame::kMaxUsage;
}

void PagedPool::note_read(const Frame& frame) noexcept {
  counters_.reads.fetch_add(1, std::memory_order_relaxed);
  PageHeader header;
  std::memcpy(&header, frame.page(), sizeof header);
  reads_by_tree_.add(header.tree);
}

void PagedPool::place(Frame& frame, PageId page, Interest interest, Lsn since) noexcept {
  frame.inserts = {};
  frame.contention.store(0, std::memory_order_relaxed);
  const bool counts_for_nothing = interest == Interest::once && policy_ == nullptr;
  frame.usage.store(counts_for_nothing ? std::uint8_t{0} : entry_usage_, std::memory_order_relaxed);
  PageState::assign(frame, page);
  // Mark it dirty before an evictor can judge the frame and before a checkpoint can miss the page.
  if (since != Lsn::none && !planted(PoolFault::lacking_page_enters_clean)) frame.mark_dirty(since);
  PageState::become_resident(frame);
  if (since != Lsn::none) store_.entered(page);
  // Note the entry before the page can be found, used and evicted again.
  note_entry(frame);
  if (!planted(PoolFault::queued_after_it_can_be_found)) about_to_be_found(frame);
}

Result<> PagedPool::read_claimed(PageId page, Interest interest) {
  assert_no_latch_held();
  auto frame = take_frame(page);
  if (!frame) {
    table_.finish_read(page, nullptr, &frame.error());
    return fail(std::move(frame).error());
  }
  return read_into(**frame, page, interest);
}

Result<> PagedPool::read_into(Frame& into, PageId page, Interest interest) {
  // Only this thread can reach the frame: it is in no list, and no reference leads to it. A stale
  // address may, but the version that the last eviction left shows that it is stale.
  page_pause(PagePause::before_read);
  auto read = store_.read_page(page, into.page());
  if (!read) {
    table_.finish_read(page, nullptr, &read.error());
    give_frame(into);
    return fail(std::move(read).error());
  }
  note_read(into);
  place(into, page, interest, *read);
  table_.finish_read(page, &into, nullptr);
  if (planted(PoolFault::queued_after_it_can_be_found)) about_to_be_found(into);
  return {};
}

/// Takes the frame before the claim, so that readers of the page wait for its read only.
Result<> PagedPool::bring_in(PageId page) {
  assert_no_latch_held();
  const auto is_wanted = [&] {
    return store_.lacks_changes(page) || planted(PoolFault::brought_in_unasked);
  };
  if (!is_wanted()) return {};
  ASSIGN_OR_RETURN(Frame* const frame, take_frame(page));
  // A page that lacks changes is in no frame, so no reference needs a check. A page that lacks none
  // is not claimed: a thread that frees it holds latches and must not wait for a claim.
  if (table_.try_claim_read_if(page, is_wanted)) return read_into(*frame, page, Interest::once);
  give_frame(*frame);
  return {};
}

void PagedPool::read_ahead(std::span<const PageId> claimed, Interest interest) noexcept {
  assert_no_latch_held();
  std::array<PageRead*, ReadsAhead::kMost> started;
  std::size_t count = 0;
  for (const PageId page : claimed) {
    ReadAhead* const ahead = count < started.size() ? reads_ahead_.take(most_ahead_) : nullptr;
    Frame* frame = ahead == nullptr ? nullptr : try_take_frame();
    if (ahead != nullptr && frame == nullptr && free_some(page, batch_) > 0)
      frame = try_take_frame();
    if (frame == nullptr) {
      if (ahead != nullptr) reads_ahead_.give(*ahead);
      give_back(page);
      continue;
    }
    ahead->pool = this;
    ahead->frame = frame;
    ahead->interest = interest;
    ahead->read = PageRead{};
    ahead->read.page = page;
    ahead->read.into = frame->page();
    ahead->read.context = ahead;
    ahead->read.done = [](PageRead& read) noexcept {
      auto& done = *static_cast<ReadAhead*>(read.context);
      done.pool->finish(done);
    };
    started[count++] = &ahead->read;
  }
  if (count > 0) store_.start_reads({started.data(), count});
}

void PagedPool::finish(ReadAhead& ahead) noexcept {
  Frame& frame = *ahead.frame;
  const PageId page = ahead.read.page;
  if (store_.has_read(ahead.read)) {
    note_read(frame);
    counters_.reads_ahead.fetch_add(1, std::memory_order_relaxed);
    place(frame, page, ahead.interest, Lsn::none);
    table_.finish_read(page, &frame, nullptr);
  } else {
    // Drop the claim: the next reader reads the page again, and gets the error itself.
    give_frame(frame);
    give_back(page);
  }
  reads_ahead_.give(ahead);
}

Result<> PagedPool::make_room(PageId incoming) {
  // Rounds without success before the thread sleeps between them.
  constexpr std::uint32_t kFruitlessRounds = 8;
  constexpr Duration kLongestPause = std::chrono::milliseconds{5};
  constexpr Duration kPatience = std::chrono::seconds{30};
  Runtime& runtime = Runtime::current();
  const TimePoint give_up = runtime.now() + kPatience;
  Duration pause = std::chrono::microseconds{100};
  for (std::uint32_t round = 0;; ++round) {
    const TimePoint began = runtime.now();
    const std::uint32_t freed = free_some(incoming, batch_);
    counters_.evicting_ns.fetch_add(static_cast<std::uint64_t>((runtime.now() - began).count()),
                                    std::memory_order_relaxed);
    if (freed > 0 || free_frames() > 0) return {};
    if (round < kFruitlessRounds) {
      runtime.yield();
      continue;
    }
    // All evictable pages are dirty or in use: give the cleaner or their users time.
    wake_cleaner();
    if (is_asked_to_end())
      return fail(sqlstate::query_canceled, "canceling statement due to user request");
    if (runtime.now() >= give_up)
      return fail(sqlstate::out_of_memory, "the buffer pool has no page that could be replaced");
    runtime.sleep_until(runtime.now() + pause);
    pause = std::min(pause * 5 / 4, kLongestPause);
  }
}

std::uint32_t PagedPool::free_by_policy(PageId incoming) noexcept {
  class Empty final : public ReplacementPolicy::Judge {
   public:
    explicit Empty(PagedPool& pool) noexcept : pool_(pool) {}
    bool may_go(ReplacementPolicy::FrameIndex index) noexcept override {
      Frame& frame = pool_.arena_.at(index);
      if (pool_.try_empty(frame)) return true;
      if (!frame.is_clean()) pool_.wake_cleaner();
      return false;
    }

   private:
    PagedPool& pool_;
  } judge{*this};
  const auto victim = policy_->choose(incoming, judge);
  if (!victim) return 0;
  // Return the frame only now, after the policy has recorded that it is empty.
  counters_.evictions.fetch_add(1, std::memory_order_relaxed);
  give_frame(arena_.at(*victim));
  return 1;
}

bool PagedPool::try_empty_unswizzled(Frame& frame) noexcept {
  if (!frame.latch.try_lock_exclusive()) return false;
  if (!try_empty_latched(frame)) {
    frame.latch.unlock_exclusive_unchanged();
    return false;
  }
  frame.latch.unlock_exclusive();
  return true;
}

bool PagedPool::try_empty_latched(Frame& frame) noexcept {
  if (frame.state() != FrameState::unswizzled || !frame.is_clean()) return false;
  if (!table_.remove(frame, frame.page_id())) return false;
  const PageId page = PageState::begin_eviction(frame);
  if (frame.pins.load(std::memory_order_seq_cst) != 0) {
    PageState::cancel_eviction(frame, page);
    table_.insert(frame);
    return false;
  }
  PageState::end_eviction(frame);
  return true;
}

bool PagedPool::try_evict(Frame& frame) noexcept {
  if (!try_empty_unswizzled(frame)) return false;
  counters_.evictions.fetch_add(1, std::memory_order_relaxed);
  give_frame(frame);
  return true;
}

void PagedPool::forget(Frame& frame) noexcept {
  if (policy_ != nullptr) policy_->left(arena_.index_of(&frame));
  if (frame.state() == FrameState::unswizzled) INVARIANT(table_.remove(frame, frame.page_id()));
}

Frame* PagedPool::find_unswizzled(PageId page) noexcept {
  // A read-ahead may be in progress without any user of the page.
  static_cast<void>(table_.wait_for_read(page));
  return table_.find(page);
}

PoolOccupancy PagedPool::occupancy() const noexcept {
  const PageTable::Counts counts = table_.counts();
  return {.frames = arena_.count(),
          .free = free_frames(),
          .unswizzled = counts.resident,
          .being_read = counts.being_read};
}

}  // namespace swizzle
