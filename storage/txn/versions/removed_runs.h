#pragma once

#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "storage/bulk_changes.h"
#include "storage/latch/spin_latch.h"
#include "storage/txn/undo/undo_log.h"

namespace swizzle {

/// Entry by which the runs at a leaf are found.
struct RunPlace {
  RunPlace* next = nullptr;   ///< in the same bucket
  RunPlace* other = nullptr;  ///< place of the same run at another leaf
  UndoRecord* run = nullptr;
  PageId leaf = PageId::none;
  std::list<RunPlace>::iterator
      own{};  ///< for a place that is not its run's first: itself in extras_
};

/// An undo record of kind removed_run: the removals of one transaction at one visit of a leaf, of
/// records that were settled (T17) and had no values, as index entries have none. The keys follow
/// in their order.
class RemovedRun {
 public:
  /// Returns the size of the data after the UndoRecord.
  static std::size_t bytes_for(std::span<const Removal> removals) noexcept;
  /// Pre: bytes_for(removals) bytes follow `record`.
  static void write(UndoRecord& record, std::span<const Removal> removals, Lsn lsn) noexcept;
  explicit RemovedRun(UndoRecord& record) noexcept : record_(record) {}
  explicit RemovedRun(const UndoRecord& record) noexcept
      : record_(const_cast<UndoRecord&>(record)) {}

  [[nodiscard]] std::uint32_t count() const noexcept { return head().count; }
  /// Returns the size of the data after the UndoRecord.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Returns how many of the first keys are not undone yet.
  [[nodiscard]] std::uint32_t left() const noexcept {
    return head().left.load(std::memory_order_relaxed);
  }
  void drop_last() const noexcept { head().left.store(left() - 1, std::memory_order_relaxed); }
  [[nodiscard]] Bytes key(std::uint32_t number) const noexcept;
  [[nodiscard]] bool has(Bytes key) const noexcept;
  /// Returns the LSN of the log record of all the removals.
  [[nodiscard]] Lsn lsn() const noexcept { return head().lsn; }
  [[nodiscard]] RunPlace& first_place() const noexcept { return head().first_place; }
  /// See UndoRecord::first_swapped_out().
  [[nodiscard]] const void* first_swapped_out() const noexcept;

 private:
  struct Head {
    RunPlace first_place;
    Lsn lsn;
    /// Atomic, since readers of another leaf, to which some of the keys have moved, may read it
    /// during an undo.
    std::atomic<std::uint32_t> left;
    std::uint32_t count;
  };
  [[nodiscard]] Head& head() const noexcept {
    return *std::launder(reinterpret_cast<Head*>(&record_ + 1));
  }
  /// Offsets of the keys, and of the end of the last one, counted from the first key.
  [[nodiscard]] std::uint32_t* offsets() const noexcept {
    return reinterpret_cast<std::uint32_t*>(&head() + 1);
  }
  [[nodiscard]] std::byte* keys() const noexcept {
    return reinterpret_cast<std::byte*>(offsets() + head().count + 1);
  }

  UndoRecord& record_;
};

/// Finds, by the leaf that a key is in, the newest run with the key. Runs are added, and their keys
/// taken back, under the leaf's exclusive latch; readers check the leaf's version afterwards. If
/// records move to another leaf, the runs are entered there as well; a superfluous entry does no
/// harm. Thread-safe.
class RemovedRuns {
 public:
  RemovedRuns();

  /// Returns true if there are no runs. For a reader of a leaf that validates the leaf's version
  /// afterwards.
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  void add(UndoRecord& run, PageId leaf) noexcept;
  void remove(UndoRecord& run) noexcept;
  /// Call when records have moved. Both leaves are held exclusively.
  void records_moved(PageId from, PageId to) noexcept;

  /// Calls `look(const UndoRecord& run)` under a latch with the newest run that has the key.
  /// Returns true if there is one.
  template <class Look>
  bool find(TreeId tree, PageId leaf, Bytes key, Look&& look) noexcept {
    if (empty()) return false;
    Bucket& bucket = bucket_of(leaf);
    // If a run is added to this leaf meanwhile, the leaf's version changes.
    if (bucket.first.load(std::memory_order_acquire) == nullptr) return false;
    const std::lock_guard hold(bucket.mutex);
    const UndoRecord* newest = nullptr;
    for (const RunPlace* place = bucket.first.load(std::memory_order_relaxed); place != nullptr;
         place = place->next) {
      if (place->leaf != leaf || place->run->tree != tree) continue;
      const RemovedRun run(*place->run);
      if ((newest == nullptr || run.lsn() > RemovedRun(*newest).lsn()) && run.has(key))
        newest = place->run;
    }
    if (newest == nullptr) return false;
    look(*newest);
    return true;
  }
  [[nodiscard]] bool has(TreeId tree, PageId leaf, Bytes key) noexcept {
    return find(tree, leaf, key, [](const UndoRecord&) {});
  }
  /// Returns the first address in swapped-out memory that a search for runs at the leaf would
  /// touch, or null.
  [[nodiscard]] const void* first_swapped_out(PageId leaf) noexcept;

 private:
  struct Bucket {
    SpinLatch mutex;
    std::atomic<RunPlace*> first{nullptr};
  };
  struct Free {
    void operator()(Bucket* buckets) const noexcept { std::free(buckets); }
  };
  static constexpr std::size_t kBuckets = std::size_t{1} << 17U;

  [[nodiscard]] Bucket& bucket_of(PageId leaf) noexcept { return buckets_[raw(leaf) % kBuckets]; }
  void put(RunPlace& place) noexcept;
  void take_out(const RunPlace& place) noexcept;
  void copy_places(PageId from, PageId to) noexcept;

  /// Guards the places of runs at leaves; taken before a bucket's latch.
  SpinLatch places_mutex_;
  std::list<RunPlace> extras_;  ///< the places that are not their run's first
  std::atomic<std::uint64_t> count_{0};
  /// Zero bits are an empty bucket, so memory is touched only when one is used.
  std::unique_ptr<Bucket[], Free> buckets_;
};

}  // namespace swizzle
