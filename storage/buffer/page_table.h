#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/runtime/runtime.h"
#include "storage/buffer/frame.h"
#include "storage/latch/spin_latch.h"

namespace swizzle {

/// Hash table of the resident pages that are not swizzled. Also prevents a page from being read
/// twice at the same time. Chains run through the frames.
class PageTable {
 public:
  explicit PageTable(std::uint32_t frames);

  /// Without a latch: may miss a page that is just being moved, never returns a frame that was not
  /// in the table. The caller secures the frame and then checks its page id again.
  [[nodiscard]] Frame* peek(PageId page) const noexcept {
    Frame* frame = buckets_[bucket_of(page)].load(std::memory_order_acquire);
    while (frame != nullptr && frame->page_id() != page) {
      page_pause(PagePause::inside_chain);
      frame = frame->next_in_bucket.load(std::memory_order_acquire);
    }
    return frame;
  }
  [[nodiscard]] Frame* find(PageId page) noexcept;
  void insert(Frame& frame) noexcept;
  /// False: the frame was not there with that page (another thread removed it first; it may be
  /// there with another page by now).
  bool remove(Frame& frame, PageId page) noexcept;

  /// `reader`: the caller must read the page and call finish_read.
  enum class Claim : std::uint8_t { reader, resident, being_read };
  [[nodiscard]] Claim try_claim_read(PageId page);
  /// Claims the read of an absent page if `wants()`, called under the table's latch, is true. Other
  /// threads never wait for a read that was not wanted, as they would for a claim that is given
  /// back.
  template <class Wants>
  [[nodiscard]] bool try_claim_read_if(PageId page, Wants&& wants) {
    Partition& partition = partition_of(page);
    const std::lock_guard hold(partition.mutex);
    if (find_latched(page) != nullptr || partition.reads.contains(raw(page)) || !wants())
      return false;
    partition.reads.emplace(raw(page), nullptr);
    Partition::add(partition.being_read, 1);
    return true;
  }
  /// Parks until the read that is under way, if one is, has ended; returns its error.
  Result<> wait_for_read(PageId page);
  /// Ends a read: `frame` enters the table; or all waiters get `error`; or, with neither, the claim
  /// is given back.
  void finish_read(PageId page, Frame* frame, const Error* error) noexcept;

  /// Approximate numbers of pages in the table, and of pages being read.
  struct Counts {
    std::uint64_t resident = 0;
    std::uint64_t being_read = 0;
  };
  [[nodiscard]] Counts counts() const noexcept;

 private:
  struct Waiter {
    Parker* parker;
    bool done = false;
    std::unique_ptr<Error> error;
    Waiter* next = nullptr;
    explicit Waiter(Parker& of) noexcept : parker(&of) {}
  };
  struct alignas(64) Partition {
    SpinLatch mutex;
    std::unordered_map<std::uint64_t, Waiter*> reads;
    /// Written under the mutex.
    std::atomic<std::uint32_t> resident{0};
    std::atomic<std::uint32_t> being_read{0};

    static void add(std::atomic<std::uint32_t>& to, std::uint32_t what) noexcept {
      to.store(to.load(std::memory_order_relaxed) + what, std::memory_order_relaxed);
    }
  };
  static constexpr std::size_t kPartitions = 256;

  [[nodiscard]] std::size_t bucket_of(PageId page) const noexcept {
    return (raw(page) * 0x9E3779B97F4A7C15U) >> shift_;
  }
  [[nodiscard]] Partition& partition_of(PageId page) noexcept {
    return partitions_[bucket_of(page) % kPartitions];
  }
  [[nodiscard]] Frame* find_latched(PageId page) const noexcept { return peek(page); }

  unsigned shift_;
  std::vector<std::atomic<Frame*>> buckets_;
  std::unique_ptr<std::array<Partition, kPartitions>> partition_memory_;
  std::array<Partition, kPartitions>& partitions_;
};

}  // namespace swizzle
