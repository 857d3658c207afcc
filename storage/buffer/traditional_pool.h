#pragma once

#include <utility>

#include "storage/buffer/paged_pool.h"

namespace swizzle {

/// The papers' baseline: every access looks the page id up in a hash table and pins the frame.
/// Replacement is a generalised clock over all frames.
class TraditionalPool final : public PagedPool {
 public:
  /// Whether accesses count towards replacement.
  static constexpr bool kCountsUsage = true;

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

  [[nodiscard]] Hold follow(PageRef ref) const noexcept {
    const PageId page = ref.page();
    Frame* frame = table_.peek(page);
    if (frame == nullptr) return {};
    frame->pins.fetch_add(1, std::memory_order_seq_cst);
    Hold hold{frame};
    // The evictor clears the id before it looks at the pins.
    if (frame->page_id.load(std::memory_order_seq_cst) != page) return {};
    return hold;
  }
  Result<> resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref);

  [[nodiscard]] static bool may_hold_addresses(const Referrer& /*parent*/) noexcept {
    return false;
  }
  PageRef adopt_new(Referrer& parent, Frame& child) noexcept;
  void moved(PageRef /*ref*/, Referrer& /*to*/) noexcept {}

  void register_root(RootHolder& /*holder*/) override {}
  void unregister_root(RootHolder& /*holder*/) noexcept override {}

 private:
  Result<> make_room() override;
  void on_loaded(Frame& /*frame*/) noexcept override {}

  std::atomic<std::uint32_t> hand_{0};
};

}  // namespace swizzle
