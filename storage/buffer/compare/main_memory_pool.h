#pragma once

#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/page_state.h"

namespace swizzle {

/// No pool at all: every reference is an address, nothing is looked up, counted or replaced. Pages
/// that do not fit are refused with 53200. An existing tree is loaded whole before its first use.
class MainMemoryPool final : public BufferPool {
 public:
  /// True if accesses count towards replacement.
  static constexpr bool kCountsUsage = false;

  class Hold {
   public:
    Hold() = default;
    explicit Hold(Frame* frame) noexcept : frame_(frame) {}
    [[nodiscard]] Frame* frame() const noexcept { return frame_; }

   private:
    Frame* frame_ = nullptr;
  };

  using BufferPool::BufferPool;

  [[nodiscard]] static Hold follow(PageRef ref) noexcept { return Hold{ref.frame()}; }
  [[nodiscard]] static Hold hold_again(Frame& frame) noexcept { return Hold{&frame}; }
  /// Never needed: load_tree() made every reference an address.
  Result<> resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref, Interest interest);
  [[nodiscard]] static Hold follow_resident(PageRef ref) noexcept { return follow(ref); }
  [[nodiscard]] static bool is_still(const Hold& /*hold*/, PageRef /*ref*/) noexcept {
    return true;
  }
  // Nothing is absent, so nothing is read ahead.
  [[nodiscard]] static bool try_claim(PageId /*page*/) noexcept { return false; }
  static void give_back(PageId /*page*/) noexcept {}
  static void read_ahead(std::span<const PageId> /*claimed*/, Interest /*interest*/) noexcept {}

  [[nodiscard]] static bool may_hold_addresses(const Referrer& /*parent*/) noexcept { return true; }
  PageRef adopt_new(Referrer& parent, Frame& child) noexcept;
  void moved(PageRef ref, Referrer& to) noexcept { PageState::move(*ref.frame(), to); }

  /// Reads the whole tree. Pre: it is not in use yet.
  Result<> load_tree(RootHolder& holder);

  void register_root(RootHolder& /*holder*/) override {}
  void unregister_root(RootHolder& /*holder*/) noexcept override {}

 private:
  Result<> load(Referrer& parent, PageRef* at);
  Result<> make_room(PageId incoming) override;
  void forget(Frame& /*frame*/) noexcept override {}
  Frame* find_unswizzled(PageId /*page*/) noexcept override { return nullptr; }
};

}  // namespace swizzle
