#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "storage/buffer/frame_arena.h"
#include "storage/buffer/frame_queue.h"
#include "storage/buffer/page_layout.h"
#include "storage/buffer/page_store.h"
#include "storage/buffer/reads_by_tree.h"
#include "storage/latch/guards.h"
#include "storage/options.h"

namespace swizzle {

/// Holder of the reference to a tree's root. Latched like a page, so that descents treat it as one.
struct alignas(64) RootHolder : Referrer {
  RootHolder(TreeId of, PageId root) noexcept
      : Referrer(Kind::root_holder), reference(root), tree(of), page(root) {}
  PageRef reference;
  const TreeId tree;
  const PageId page;  ///< constant for the tree's life
};

/// A page that is being brought into use: numbered, with a private frame, so that it can be
/// prepared before anything is latched. Unless publish() is called, both are given back.
class NewPage {
 public:
  NewPage() = default;
  NewPage(class BufferPool& pool, PageId id, Frame& frame) noexcept
      : pool_(&pool), id_(id), frame_(&frame) {}
  NewPage(NewPage&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        id_(other.id_),
        frame_(other.frame_),
        latched_(other.latched_) {}
  NewPage& operator=(NewPage&& other) noexcept;
  ~NewPage();

  [[nodiscard]] explicit operator bool() const noexcept { return pool_ != nullptr; }
  [[nodiscard]] PageId id() const noexcept { return id_; }
  /// Held exclusively from now on.
  Frame& latch() noexcept {
    INVARIANT(!latched_);
    latched_ = true;
    frame_->latch.lock_exclusive();
    return *frame_;
  }
  /// Tells that the page is logged: it counts as allocated. The caller stores the reference and
  /// unlatches. Pre: latched.
  Frame& publish() noexcept;

 private:
  class BufferPool* pool_ = nullptr;
  PageId id_{};
  Frame* frame_ = nullptr;
  bool latched_ = false;
};

/// Interest of a reader in a page: will it need the page again?
enum class Interest : std::uint8_t {
  keep,
  once,  ///< a large scan passes by: the page should be evicted first
};

struct PoolCounters {
  std::atomic<std::uint64_t> reads{0};
  /// Number of reads that were started before the page was needed.
  std::atomic<std::uint64_t> reads_ahead{0};
  std::atomic<std::uint64_t> evictions{0};
  std::atomic<std::uint64_t> swizzled{0};
  std::atomic<std::uint64_t> unswizzled{0};
  std::atomic<std::uint64_t> sweeps{0};
  /// The most pages that one eviction round has looked at.
  std::atomic<std::uint64_t> most_steps{0};
  /// Time spent on eviction, waits for the cleaner not included.
  std::atomic<std::uint64_t> evicting_ns{0};
};

/// Approximate distribution of a pool's frames.
struct PoolOccupancy {
  std::uint64_t frames = 0;
  std::uint64_t free = 0;
  std::uint64_t unswizzled = 0;  ///< resident, found by page id
  std::uint64_t being_read = 0;
  /// Resident, referred to by address.
  [[nodiscard]] std::uint64_t swizzled() const noexcept {
    const std::uint64_t others = free + unswizzled + being_read;
    return frames > others ? frames - others : 0;
  }
};

/// Common part of the pool modes: frames, free frames, page numbers, counters.
class BufferPool {
 public:
  /// A descent holds a handful of pages, a split two more; with fewer frames nothing works.
  static constexpr std::uint32_t kMinFrames = 16;

  BufferPool(FrameArena arena, PageStore& store, PageLayout layout) noexcept
      : arena_(std::move(arena)), store_(store), layout_(layout), free_(arena_) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  virtual ~BufferPool() = default;

  /// 53200 when no frame can be freed. Parks; no latch held.
  Result<NewPage> new_page(std::optional<PageId> near);
  /// Frees the frame and the number of a page that has left its tree. Pre: `frame` is held
  /// exclusively and no reference leads to it; it is unlatched here. The record that freed it is
  /// logged.
  void free_page(Frame& frame) noexcept;

  // Free the frames of pages that leave their tree without being visited. Pre: the pages are not in
  // use. Call drop_swizzled() for the references that are addresses, then drop_unswizzled() with
  // all of the pages for the others.
  void drop_swizzled(PageRef* at) noexcept;
  void drop_unswizzled(std::span<const PageId> pages) noexcept;
  /// Frees the frames of pages that a standby's redo has changed on disk, and of what is
  /// swizzled below them. Looks at every frame. Pre: the pool pages, nothing of it is in use, and
  /// none of the pages is dirty.
  virtual void drop_outdated(const std::unordered_set<PageId>& pages) noexcept;

  /// The eviction sweep visits the trees that are registered.
  virtual void register_root(RootHolder& holder) = 0;
  virtual void unregister_root(RootHolder& holder) noexcept = 0;

  [[nodiscard]] FrameArena& arena() noexcept { return arena_; }
  [[nodiscard]] PageStore& store() noexcept { return store_; }
  [[nodiscard]] const PageLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] const PoolCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] ReadsByTree& reads_by_tree() noexcept { return reads_by_tree_; }
  [[nodiscard]] std::uint32_t free_frames() const noexcept {
    return arena_.count() - arena_.used() + free_.size();
  }
  [[nodiscard]] virtual PoolOccupancy occupancy() const noexcept {
    return {.frames = arena_.count(), .free = free_frames()};
  }
  /// Returns the tree to which the page in memory says it belongs; nothing if the page is not in
  /// memory. Looks at every frame.
  [[nodiscard]] std::optional<TreeId> owner_in_memory(PageId page);
  /// Reads a page that lacks changes (PageStore::lacks_changes) into a frame, so that it has them.
  /// Does nothing for any other page, and in a pool that reads no page by itself. Parks; no latch
  /// held.
  virtual Result<> bring_in(PageId /*page*/) { return {}; }
  /// Called when eviction finds too many dirty pages. The cleaner registers itself here.
  void on_dirty_pressure(void (*wake)(void*), void* context) noexcept {
    wake_cleaner_ = wake;
    cleaner_ = context;
  }

 protected:
  friend class NewPage;

  /// Returns a frame in state free, unlatched, for `incoming` (none: a new page). Evicts when none
  /// is left.
  Result<Frame*> take_frame(PageId incoming = PageId::none);
  /// Null when none is free.
  Frame* try_take_frame() noexcept;
  void give_frame(Frame& frame) noexcept { free_.push(arena_, frame); }
  /// Frees some frames, at least one, or returns why it cannot.
  virtual Result<> make_room(PageId incoming) = 0;
  /// Forgets a page that is being freed.
  virtual void forget(Frame& frame) noexcept = 0;
  /// Returns the frame of an unswizzled page, or null.
  virtual Frame* find_unswizzled(PageId page) noexcept = 0;
  void wake_cleaner() noexcept {
    if (wake_cleaner_ != nullptr) wake_cleaner_(cleaner_);
  }

  FrameArena arena_;
  PageStore& store_;
  PageLayout layout_;
  PoolCounters counters_;
  ReadsByTree reads_by_tree_;
  /// Usage counter of a page that enters the pool.
  std::uint8_t entry_usage_ = 1;
  /// Frames that hold no page.
  PartitionedQueue free_;

 private:
  /// Replaces the address of a swizzled frame in its parent by the page's number.
  void unlink(Frame& frame) noexcept;
  /// Pre: held exclusively; unlatches.
  void release_frame(Frame& frame) noexcept;

  void (*wake_cleaner_)(void*) = nullptr;
  void* cleaner_ = nullptr;
};

}  // namespace swizzle
