#pragma once

#include <utility>

#include "storage/buffer/paged_pool.h"

namespace swizzle {

/// The papers' baseline: every access looks the page id up in a hash table and pins the frame.
/// Replacement is a generalised clock over all frames (clock_sweep, which has nothing to sweep
/// here), or one of the policies that choose by frame.
class TraditionalPool final : public PagedPool {
 public:
  /// A pin.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(Frame* pinned) noexcept : frame_(pinned) {}
    Hold(Hold&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(frame_, other.frame_);
      return *this;
    }
    ~Hold() {
      if (frame_ != nullptr) frame_->pins.fetch_sub(1, std::memory_order_release);
    }
    [[nodiscard]] Frame* frame() const noexcept { return frame_; }

   private:
    Frame* frame_ = nullptr;
  };

  using PagedPool::PagedPool;
  ~TraditionalPool() override { drain_reads_ahead(); }

  [[nodiscard]] Hold follow(PageRef ref) const noexcept {
    const PageId page = ref.page();
    Frame* frame = table_.peek(page);
    if (frame == nullptr) return {};
    frame->pins.fetch_add(1, std::memory_order_seq_cst);
    Hold hold{frame};
    // The evictor clears the id before it looks at the pins.
    if (frame->page_id(std::memory_order_seq_cst) != page) return {};
    return hold;
  }
  /// Pins a frame that was held before. The latch version from then, compared afterwards, shows if
  /// it still has its page: an evictor latches first and checks the pins then.
  [[nodiscard]] static Hold hold_again(Frame& frame) noexcept {
    frame.pins.fetch_add(1, std::memory_order_seq_cst);
    return Hold{&frame};
  }
  /// The page of `ref`, if it is in memory.
  [[nodiscard]] Hold follow_resident(PageRef ref) const noexcept { return follow(ref); }
  /// True if `hold` has the page of `ref`, asked when its latch's version is known.
  [[nodiscard]] static bool is_still(const Hold& /*hold*/, PageRef /*ref*/) noexcept {
    return true;  // it is pinned
  }
  Result<> resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref, Interest interest);

  [[nodiscard]] static bool may_hold_addresses(const Referrer& /*parent*/) noexcept {
    return false;
  }
  PageRef adopt_new(Referrer& parent, Frame& child) noexcept;
  void moved(PageRef /*ref*/, Referrer& /*to*/) noexcept {}

  void register_root(RootHolder& /*holder*/) override {}
  void unregister_root(RootHolder& /*holder*/) noexcept override {}

 private:
  std::uint32_t free_some(PageId incoming, std::uint32_t wanted) noexcept override;
  void about_to_be_found(Frame& /*frame*/) noexcept override {}

  std::atomic<std::uint64_t> hand_{0};
};

}  // namespace swizzle
