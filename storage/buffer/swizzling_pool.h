#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "storage/buffer/paged_pool.h"

namespace swizzle {

/// References become addresses while their page is in memory.
///
/// Replacement, in three ways:
/// - clock_sweep, the default: the clock hand goes round the unswizzled frames and evicts those
///   whose counter is 0. When they run low, a depth-first sweep over the trees, resumed where it
///   stopped, counts usage down and unswizzles pages whose counter is 0, children before parents.
///   An unswizzled page that is still resident has a second chance: touching it swizzles it again
///   without I/O.
/// - cooling_fifo (LeanStore's): pages chosen at random are unswizzled and wait in the same queue;
///   one that is touched there is swizzled again, one that reaches the end goes. Uses are not
///   counted.
/// - a policy that chooses by frame: the page is unswizzled by way of its parent, and evicted.
class SwizzlingPool final : public PagedPool {
 public:
  /// A followed page. A swizzled page is not pinned: a version check tells if it stayed.
  class Hold {
   public:
    Hold() = default;
    explicit Hold(Frame* frame) noexcept : frame_(frame) {}
    [[nodiscard]] Frame* frame() const noexcept { return frame_; }

   private:
    Frame* frame_ = nullptr;
  };

  SwizzlingPool(FrameArena arena, PageStore& store, PageLayout layout,
                const ReplacementOptions& options);
  ~SwizzlingPool() override { drain_reads_ahead(); }

  /// Returns the page that `ref` leads to, if it is an address. Empty: call resolve().
  [[nodiscard]] static Hold follow(PageRef ref) noexcept {
    return Hold{ref.is_swizzled() ? ref.frame() : nullptr};
  }
  /// Returns a frame that was held before. Only its latch's version of then, checked afterwards,
  /// tells if it still has its page.
  [[nodiscard]] static Hold hold_again(Frame& frame) noexcept { return Hold{&frame}; }
  /// Returns the page of `ref`, if it is in memory, without making it hotter: an unswizzled one
  /// stays so. Only is_still(), called after a version of its latch was taken, tells if the frame
  /// has that page.
  [[nodiscard]] Hold follow_resident(PageRef ref) const noexcept {
    return ref.is_swizzled() ? Hold{ref.frame()} : Hold{table_.peek(ref.page())};
  }
  [[nodiscard]] static bool is_still(const Hold& hold, PageRef ref) noexcept {
    // Acquire: sees the page for which the state was set. A frame that leaves that state changes
    // its version, or becomes swizzled, and then the reference has changed too.
    return ref.is_swizzled() ||
           (hold.frame()->state(std::memory_order_acquire) == FrameState::unswizzled &&
            hold.frame()->page_id() == ref.page());
  }
  /// Makes the page of `ref`, which `parent` has at `at`, reachable by follow(). Parks to read it.
  /// The caller descends anew afterwards. Pre: only `guard`'s latch may be held; it is released. A
  /// page wanted only once stays unswizzled, for follow_resident().
  Result<> resolve(Referrer& parent, ReadGuard& guard, PageRef* at, PageRef ref, Interest interest);

  /// Returns the reference to store in a page for a new child. Pre: both are held exclusively. If
  /// `parent` is a frame, its state decides if the child may be swizzled.
  PageRef adopt_new(Referrer& parent, Frame& child) noexcept;
  /// `child`'s reference moved to `to`. Pre: both parents are held exclusively.
  void moved(PageRef ref, Referrer& to) noexcept;
  /// True if references in this page may be addresses.
  [[nodiscard]] static bool may_hold_addresses(const Referrer& parent) noexcept {
    return parent.kind == Referrer::Kind::root_holder ||
           static_cast<const Frame&>(parent).state() == FrameState::swizzled;
  }

  /// Checks every address and parent link among the resident pages (rules F1 to F3 of the README),
  /// and that no frame is lost or in two queues (F8). Pre: the pool is not in use. Each string is a
  /// violation.
  std::vector<std::string> audit();

  void register_root(RootHolder& holder) override;
  void unregister_root(RootHolder& holder) noexcept override;

 private:
  std::uint32_t free_some(PageId incoming, std::uint32_t wanted) noexcept override;
  bool try_empty(Frame& frame) noexcept override;
  void about_to_be_found(Frame& frame) noexcept override { enqueue(frame); }
  void swizzle(Referrer& parent, ReadGuard& guard, PageRef* at, PageId page) noexcept;
  /// Pre: the frame is not reachable otherwise, or it is held exclusively.
  void enqueue(Frame& frame) noexcept;
  std::uint32_t run_clock_hand(std::uint32_t wanted) noexcept;
  bool visit_by_clock(Frame& frame) noexcept;
  void sweep(std::uint32_t wanted) noexcept;
  std::uint32_t sweep_below(Referrer& parent, std::size_t depth, std::uint32_t wanted) noexcept;
  std::uint32_t unswizzle_unused_children(Referrer& parent) noexcept;
  bool try_unswizzle(PageRef* at, Frame& child) noexcept;
  bool cool(PageRef* at, Frame& child) noexcept;
  void cool_at_random(std::uint32_t wanted) noexcept;
  bool unswizzle_by_parent(Frame& child) noexcept;
  bool unswizzle_in(Referrer& parent, Frame& child) noexcept;
  void audit_queues(std::vector<std::string>& violations);

  const Replacement replacement_;
  const std::uint32_t cooling_target_;
  /// The unswizzled frames, in the order of the clock hand. A frame that was swizzled again stays
  /// until the hand visits it.
  PartitionedQueue cooling_;

  SpinLatch roots_mutex_;
  std::vector<RootHolder*> roots_;
  std::atomic<bool> sweeping_{false};
  std::size_t sweep_root_ = 0;
  std::vector<std::uint16_t> sweep_path_;
  std::uint32_t sweep_steps_ = 0;  ///< of this round
  Random random_;                  ///< of the sweeping thread
};

}  // namespace swizzle
