#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "storage/latch/hybrid_latch.h"
#include "storage/page/page.h"

namespace swizzle {

/// A latched holder of references to pages: a frame, or the holder of a tree's root.
struct Referrer {
  enum class Kind : std::uint8_t { frame, root_holder };
  explicit Referrer(Kind of) noexcept : kind(of) {}
  Referrer(const Referrer&) = delete;
  Referrer& operator=(const Referrer&) = delete;

  HybridLatch latch;
  const Kind kind;
};

enum class FrameState : std::uint8_t {
  free,        ///< on the free list, or being filled
  swizzled,    ///< its parent refers to it by address (always so in main_memory)
  unswizzled,  ///< resident, found by page id in the page table
};

/// Detector of ascending and descending inserts into a page.
class InsertPattern {
 public:
  /// Notes an insert at `index` of `count` records.
  void note(std::uint16_t index, std::uint16_t count) noexcept {
    if (index == count)
      at_edge_ = at_edge_ < 0 ? 1 : std::min(at_edge_ + 1, kEnough);
    else if (index == 0)
      at_edge_ = at_edge_ > 0 ? -1 : std::max(at_edge_ - 1, -kEnough);
    else
      at_edge_ = 0;
    ascending_ = index == next_ ? std::min(ascending_ + 1, kEnough) : 0;
    next_ = index + 1;
  }
  [[nodiscard]] bool grows_at_end() const noexcept { return at_edge_ >= kRun; }
  [[nodiscard]] bool grows_at_begin() const noexcept { return at_edge_ <= -kRun; }
  /// True if a record inserted at `index` continues an ascending run, wherever in the page.
  [[nodiscard]] bool goes_on_at(std::uint16_t index) const noexcept {
    return ascending_ >= kRun && index == next_;
  }

  /// Returns the pattern of the right page of a split, which inherits growth at the end; the left
  /// page's starts over then.
  [[nodiscard]] InsertPattern split() noexcept {
    InsertPattern right;
    if (at_edge_ > 0) right.at_edge_ = std::exchange(at_edge_, 0);
    ascending_ = 0;
    return right;
  }
  /// Makes the page one that grows at its end.
  void ends_at_run() noexcept { at_edge_ = kRun; }

 private:
  static constexpr int kRun = 8;
  static constexpr int kEnough = 1000;
  /// Number of times in a row that the page grew at its end; negative: at its beginning.
  int at_edge_ = 0;
  /// Number of times in a row that a record came in right after the one before.
  int ascending_ = 0;
  int next_ = -1;
};

/// One slot of the pool: this header, then the page. Header words on the path to hot pages are not
/// written by readers: `usage` saturates and is written only when it changes. The members
/// that identify the page are written by PageState alone.
struct alignas(64) Frame : Referrer {
  /// The header's share of a frame. With the page it makes a stride that is no power of two, so
  /// that page heads do not meet in one cache set, and keeps pages aligned for direct I/O.
  static constexpr std::size_t kHeaderBytes = 512;
  static constexpr std::size_t kStride = kHeaderBytes + kPageBytes;
  static constexpr std::uint8_t kMaxUsage = 3;

  Frame() noexcept : Referrer(Kind::frame) {}

  [[nodiscard]] FrameState state(
      std::memory_order order = std::memory_order_relaxed) const noexcept {
    return state_.load(order);
  }
  /// Referrer of this page while it is swizzled. Changes under that referrer's exclusive latch.
  [[nodiscard]] Referrer* parent() const noexcept {
    return parent_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] PageId page_id(std::memory_order order = std::memory_order_relaxed) const noexcept {
    return page_id_.load(order);
  }
  /// True if the page has been compared with its parent since it was read. A page that was made in
  /// memory counts as compared.
  [[nodiscard]] bool is_compared() const noexcept {
    return is_compared_.load(std::memory_order_relaxed);
  }
  /// True if the frame is in the clock hand's queue.
  [[nodiscard]] bool is_queued() const noexcept {
    return is_queued_.load(std::memory_order_relaxed);
  }

 private:
  friend class PageState;
  std::atomic<FrameState> state_{FrameState::free};
  std::atomic<bool> is_compared_{false};

 public:
  std::atomic<std::uint8_t> usage{0};
  /// Number of writers that were disturbed by others since the page was read, made or split for
  /// contention.
  std::atomic<std::uint16_t> contention{0};

 private:
  std::atomic<Referrer*> parent_{nullptr};
  std::atomic<PageId> page_id_{PageId::none};

 public:
  /// The oldest log record that the copy on disk lacks; none: the page is clean.
  std::atomic<Lsn> dirty_since{Lsn::none};
  /// The same for the copy that the cleaner is writing; none: no write is under way.
  std::atomic<Lsn> writing_since{Lsn::none};
  std::atomic<std::uint32_t> pins{0};  ///< traditional mode only
  std::atomic<Frame*> next_in_bucket{nullptr};

  // Away from the words above: only replacement touches these.
  alignas(64) Frame* next_in_queue = nullptr;

 private:
  std::atomic<bool> is_queued_{false};

 public:
  /// Places of recent inserts: splits favour ascending and descending patterns. Written under the
  /// exclusive latch.
  InsertPattern inserts;

  [[nodiscard]] std::byte* page() noexcept {
    return reinterpret_cast<std::byte*>(this) + kHeaderBytes;
  }
  [[nodiscard]] const std::byte* page() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + kHeaderBytes;
  }
  /// Pre: held exclusively. `lsn` is of the record that changes the page.
  void mark_dirty(Lsn lsn) noexcept {
    if (dirty_since.load(std::memory_order_relaxed) == Lsn::none)
      dirty_since.store(lsn, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_clean() const noexcept {
    return dirty_since.load(std::memory_order_acquire) == Lsn::none &&
           writing_since.load(std::memory_order_acquire) == Lsn::none;
  }
};
static_assert(sizeof(Frame) <= Frame::kHeaderBytes);
static_assert(Frame::kStride % 512 == 0);

}  // namespace swizzle
