#pragma once

#include <memory>
#include <mutex>

#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/page_table.h"
#include "storage/buffer/reads_ahead.h"
#include "storage/buffer/replacement.h"

namespace swizzle {

/// Common part of the two modes that page: reading absent pages, evicting resident ones, and the
/// replacement policies that choose by frame, which the papers compare.
class PagedPool : public BufferPool {
 public:
  /// True if accesses count towards replacement.
  static constexpr bool kCountsUsage = true;

  PagedPool(FrameArena arena, PageStore& store, PageLayout layout,
            const ReplacementOptions& options);

  /// Notes a use of the page in `frame`. A hot page has a saturated counter and is not written
  ///
  void used(Frame& frame) noexcept {
    const std::uint8_t count = frame.usage.load(std::memory_order_relaxed);
    if (count >= Frame::kMaxUsage) [[likely]]
      return;
    if (policy_ == nullptr) [[likely]]
      frame.usage.store(static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed);
    else
      policy_->used(arena_.index_of(&frame));
  }

  /// Reads a page whose read the caller has claimed. Parks; no latch held. The page may have moved
  /// again afterwards: the caller descends anew.
  Result<> read_claimed(PageId page, Interest interest);
  Result<> bring_in(PageId page) override;

  /// For prefetching: on true the caller must read the page, or give the claim back. As in
  /// resolve(), the page was absent only if its reference still stands after the claim.
  [[nodiscard]] bool try_claim(PageId page) {
    return table_.try_claim_read(page) == PageTable::Claim::reader;
  }
  void give_back(PageId page) noexcept { table_.finish_read(page, nullptr, nullptr); }
  /// Starts reading pages that the caller has claimed, without waiting for them. If frames are
  /// short the claims are given back: reading ahead never waits for a frame. No latch held.
  void read_ahead(std::span<const PageId> claimed, Interest interest) noexcept;

  void drop_outdated(const std::unordered_set<PageId>& pages) noexcept override {
    // A page that was read ahead before must not come in behind the look at the frames.
    reads_ahead_.drain();
    BufferPool::drop_outdated(pages);
  }

  [[nodiscard]] PoolOccupancy occupancy() const noexcept override;

 protected:
  /// Most pages that one eviction round looks at: about a millisecond of work, during which no
  /// other fiber of the thread runs. A caller that found no frame tries again.
  static constexpr std::uint32_t kMostSteps = 4096;
  void note_steps(std::uint32_t steps) noexcept {
    if (steps > counters_.most_steps.load(std::memory_order_relaxed))
      counters_.most_steps.store(steps, std::memory_order_relaxed);
  }
  /// Frees up to `wanted` frames without waiting; returns how many were freed.
  virtual std::uint32_t free_some(PageId incoming, std::uint32_t wanted) noexcept = 0;
  Result<> make_room(PageId incoming) final;
  /// Counts a page that has come from the store.
  void note_read(const Frame& frame) noexcept;
  /// Frees one frame that the policy chooses. Pre: there is a policy.
  std::uint32_t free_by_policy(PageId incoming) noexcept;

  /// Evicts the page of an unswizzled frame. False when it is pinned, dirty or just leaving. On
  /// true the frame is in state free and the caller's.
  bool try_empty_unswizzled(Frame& frame) noexcept;
  /// The same for a frame that is held exclusively, and stays so.
  bool try_empty_latched(Frame& frame) noexcept;
  /// The same for any resident page.
  virtual bool try_empty(Frame& frame) noexcept { return try_empty_unswizzled(frame); }
  /// Calls try_empty_unswizzled() and puts the frame on the free list.
  bool try_evict(Frame& frame) noexcept;

  void forget(Frame& frame) noexcept override;
  Frame* find_unswizzled(PageId page) noexcept override;
  /// Notes that a page is about to become reachable in `frame`.
  void note_entry(Frame& frame) noexcept {
    if (policy_ != nullptr) policy_->entered(arena_.index_of(&frame), frame.page_id());
  }
  /// Called when a page has been read and is about to enter the table.
  virtual void about_to_be_found(Frame& frame) noexcept = 0;
  /// For the destructors of pools, because reads under way use their members.
  void drain_reads_ahead() noexcept { reads_ahead_.drain(); }

  PageTable table_;
  /// Null: the pool's own policy.
  std::unique_ptr<ReplacementPolicy> policy_;

 private:
  /// Sets the state of `frame`, which is not reachable yet and has a page that was read. `since`:
  /// the oldest change that the copy on disk lacks.
  void place(Frame& frame, PageId page, Interest interest, Lsn since) noexcept;
  /// Pre: the caller has claimed the page's read, and the frame is its own.
  Result<> read_into(Frame& into, PageId page, Interest interest);
  void finish(ReadAhead& ahead) noexcept;

  const std::uint32_t most_ahead_;
  /// Number of frames freed at a time. Fewer in a small pool, or prefetched pages would be evicted
  /// before they are used.
  const std::uint32_t batch_;
  ReadsAhead reads_ahead_;
};

}  // namespace swizzle
