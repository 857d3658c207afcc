#pragma once

#include <string>
#include <vector>

#include "storage/buffer/paged_pool.h"

namespace swizzle {

/// References become addresses while their page is in memory.
///
/// Replacement: the clock hand goes round the unswizzled frames and evicts those whose counter is
/// 0. When they run low, a depth-first sweep over the trees, resumed where it stopped, counts usage
/// down and unswizzles pages whose counter is 0, children before parents. What is unswizzled but
/// resident is a second chance: touching it swizzles it again without I/O.
class SwizzlingPool final : public PagedPool {
 public:
  /// Whether accesses count towards replacement.
  static constexpr bool kCountsUsage = true;

  /// Keeps a followed page where it is. Swizzled pages need nothing for that: a version check tells
  /// whether they stayed.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(Frame* frame) noexcept : frame_(frame) {}
    [[nodiscard]] Frame* frame() const noexcept { return frame_; }

   private:
    Frame* frame_ = nullptr;
  };

  SwizzlingPool(FrameArena arena, PageStore& store, PageLayout layout,
                std::uint32_t cooling_percent);

  /// The page that `ref` leads to, if that takes no more than an address. Empty: resolve().
  [[nodiscard]] static Hold follow(PageRef ref) noexcept {
    return Hold{ref.is_swizzled() ? ref.frame() : nullptr};
  }
  /// Makes the page of `ref`, which `parent` has at `at`, reachable by follow(). Parks when it must
  /// read. The caller descends anew afterwards. Pre: only `guard`'s latch may be held; it is
  /// released.
  Result<> resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref);

  /// The reference to put into a page for a new child of it. Pre: both are held exclusively; if
  /// `parent` is a frame, its state decides whether the child may be swizzled.
  PageRef adopt_new(Referrer& parent, Frame& child) noexcept;
  /// `child`'s reference moved to `to`. Pre: both parents are held exclusively.
  void moved(PageRef ref, Referrer& to) noexcept;
  /// Whether references in this page may be addresses.
  [[nodiscard]] static bool may_hold_addresses(const Referrer& parent) noexcept {
    return parent.kind == Referrer::Kind::root_holder ||
           static_cast<const Frame&>(parent).state.load(std::memory_order_relaxed) ==
               FrameState::swizzled;
  }

  /// Checks every address and parent link among the resident pages (rules F1 to F3 of the README).
  /// Pre: nobody is at work. Each string is one violation.
  std::vector<std::string> audit();

  void register_root(RootHolder& holder) override;
  void unregister_root(RootHolder& holder) noexcept override;

 private:
  /// Rounds without success before make_room() begins to sleep between them.
  static constexpr std::uint32_t kFruitlessRounds = 8;

  Result<> make_room() override;
  void on_loaded(Frame& frame) noexcept override { enqueue(frame); }
  void swizzle(Referrer& parent, ReadGuard& guard, PageRef* at, PageId page) noexcept;
  void enqueue(Frame& frame) noexcept;
  std::uint32_t run_clock_hand(std::uint32_t wanted) noexcept;
  void sweep(std::uint32_t wanted) noexcept;
  std::uint32_t sweep_below(Referrer& parent, std::size_t depth, std::uint32_t wanted) noexcept;
  std::uint32_t unswizzle_unused_children(Referrer& parent) noexcept;
  bool try_unswizzle(PageRef* at, Frame& child) noexcept;
  bool cool(PageRef* at, Frame& child) noexcept;

  const std::uint32_t cooling_target_;
  /// The unswizzled frames, in the order in which the clock hand meets them. A frame that was
  /// swizzled again stays until it is met.
  FrameQueue cooling_;

  std::mutex roots_mutex_;
  std::vector<RootHolder*> roots_;
  std::atomic<bool> sweeping_{false};
  std::size_t sweep_root_ = 0;
  std::vector<std::uint16_t> sweep_path_;
};

}  // namespace swizzle
