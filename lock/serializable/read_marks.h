#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/runtime/spin.h"
#include "base/runtime/spin_latch.h"
#include "lock/lock_types.h"

namespace swizzle::lock {

/// Part of the line of keys that a transaction has read: a key, the gap after it, or both.
enum class ReadPart : std::uint8_t { key = 1, gap = 2, key_and_gap = 3 };

class MarkOwner;

/// A note that an owner has read a key, a gap or a tree. One without an owner is the place at which
/// a walk through the bucket goes on.
struct ReadMark {
  ReadMark* before = nullptr;         ///< in the same bucket
  ReadMark* next = nullptr;           ///< in the same bucket
  ReadMark* next_of_owner = nullptr;  ///< of the same owner
  MarkOwner* owner = nullptr;
  LockId id{};
  ReadPart part = ReadPart::key;
  bool is_of_tree = false;  ///< the whole tree is marked; the hash means nothing
};

/// A transaction's marks. Its thread adds marks; other threads add to them when a gap is split.
class MarkOwner {
 public:
  MarkOwner() = default;
  explicit MarkOwner(OwnerLabel label) noexcept : label_(label) {}
  MarkOwner(const MarkOwner&) = delete;
  MarkOwner& operator=(const MarkOwner&) = delete;

 private:
  friend class ReadMarks;
  struct OfTree {
    TreeId tree{};
    std::uint32_t count = 0;
    bool is_whole = false;
  };
  [[nodiscard]] OfTree* find(TreeId tree) noexcept {
    for (OfTree& each : trees_)
      if (each.tree == tree) return &each;
    return nullptr;
  }

  const OwnerLabel label_ = 0;
  BasicSpinLatch<NoPauses> latch_;  ///< guards first_
  ReadMark* first_ = nullptr;
  /// Only the transaction's thread uses it.
  std::vector<OfTree> trees_;
  std::uint64_t count_ = 0;
  std::atomic<bool> has_read_all_{false};
};

/// Marks of what serializable transactions have read in their snapshots. A mark excludes nothing:
/// it tells a later writer whose view does not have its change. Thread-safe.
///
/// A reader sets its mark and then validates the version of the leaf that it has read. A writer
/// latches the leaf and then looks for marks. So either the writer finds the mark, or the reader
/// reads the leaf again and finds the change.
class ReadMarks {
 public:
  struct Limits {
    std::size_t buckets = std::size_t{1} << 16;
    /// An owner that has marked so many keys and gaps of one tree marks the tree instead.
    std::uint32_t of_tree = 2'000;
    /// An owner that has so many marks marks trees from then on.
    std::uint64_t of_owner = 50'000;
  };
  explicit ReadMarks(const Limits& limits);
  ReadMarks(const ReadMarks&) = delete;
  ReadMarks& operator=(const ReadMarks&) = delete;

  /// Marks what the owner reads. Call on its thread, before the leaf's version is validated.
  void add(MarkOwner& owner, LockId id, ReadPart part) noexcept;
  /// Marks everything that the owner could read.
  void add_all(MarkOwner& owner) noexcept;
  /// Puts one mark on each tree that the owner has marked, in place of the others. Pre: no other
  /// thread calls add() for the owner.
  void coarsen(MarkOwner& owner) noexcept;
  /// Returns true if the owner has marked the whole tree, so that more marks there say nothing.
  /// Call on its thread.
  [[nodiscard]] static bool is_whole(MarkOwner& owner, TreeId tree) noexcept {
    if (owner.has_read_all_.load(std::memory_order_relaxed)) return true;
    const MarkOwner::OfTree* const of_tree = owner.find(tree);
    return of_tree != nullptr && of_tree->is_whole;
  }
  /// Removes all marks of the owner. Afterwards no visit finds it any more.
  void remove_all(MarkOwner& owner) noexcept;

  /// Returns true if there are no marks, so that no call of the functions below is needed. Call
  /// with the leaf latched.
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_seq_cst) == 0; }
  /// Calls `visit(MarkOwner&)` with each owner that has marked that part of the key, its tree, or
  /// everything; under latches.
  template <class Visit>
  void visit(LockId id, ReadPart part, Visit&& visit) const noexcept {
    visit_bucket(key_bucket(id), [&](const ReadMark& mark) {
      if (!mark.is_of_tree && mark.id == id && overlap(mark.part, part)) visit(*mark.owner);
    });
    visit_bucket(tree_bucket(id.tree), [&](const ReadMark& mark) {
      if (mark.is_of_tree && mark.id.tree == id.tree) visit(*mark.owner);
    });
    if (readers_of_all_.load(std::memory_order_seq_cst) == 0) return;
    const std::lock_guard hold(all_latch_);
    for (MarkOwner* const owner : have_read_all_) visit(*owner);
  }
  /// Calls `visit(MarkOwner&)` with each owner that has read something of the tree, perhaps more
  /// than once.
  template <class Visit>
  void visit_tree(TreeId tree, Visit&& visit) const noexcept {
    for (std::size_t i = 0; i <= mask_; ++i)
      visit_bucket(buckets_[i], [&](const ReadMark& mark) {
        if (mark.id.tree == tree) visit(*mark.owner);
      });
    const std::lock_guard hold(all_latch_);
    for (MarkOwner* const owner : have_read_all_) visit(*owner);
  }
  /// Returns true if the part is marked by itself; marks on whole trees do not count.
  [[nodiscard]] bool is_marked(LockId id, ReadPart part) const noexcept;
  /// Marks the gap after `inserted` for each owner that has marked the gap after `before`, which
  /// the new key splits. Call with the leaf latched exclusively.
  void split_gap(LockId before, LockId inserted) noexcept;

  /// Lists the marks. Each was there at some moment of the call.
  [[nodiscard]] std::vector<ReadMarkRow> rows() const;
  /// Returns the number of all marks.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }

 private:
  using Latch = BasicSpinLatch<NoPauses>;
  struct Bucket {
    /// Pre: latch is held, as for take_out(). Puts `mark` before `after`, which is the first one if
    /// it is null.
    void put_before(ReadMark* after, ReadMark& mark) const noexcept {
      mark.next = after;
      mark.before = after == nullptr ? nullptr : after->before;
      (mark.before == nullptr ? first : mark.before->next) = &mark;
      if (after != nullptr) after->before = &mark;
    }
    void take_out(ReadMark& mark) const noexcept {
      (mark.before == nullptr ? first : mark.before->next) = mark.next;
      if (mark.next != nullptr) mark.next->before = mark.before;
    }
    mutable Latch latch;
    /// Walks put their places into the list.
    mutable ReadMark* first = nullptr;
  };
  /// Number of marks that a thread passes or removes under one hold of a latch. A key that
  /// everybody reads has the marks of thousands.
  static constexpr std::size_t kPortion = 64;
  struct Free {
    void operator()(Bucket* buckets) const noexcept { std::free(buckets); }
  };
  static constexpr bool overlap(ReadPart one, ReadPart other) noexcept {
    return (static_cast<unsigned>(one) & static_cast<unsigned>(other)) != 0;
  }

  /// Calls `visit` with each mark that was in the bucket when the walk began, and is still there.
  template <class Visit>
  static void visit_bucket(const Bucket& bucket, Visit&& visit) noexcept {
    visit_in_portions(bucket, visit, [] {});
  }
  /// The same; calls `between` after each portion, without the bucket's latch.
  template <class Visit, class Between>
  static void visit_in_portions(const Bucket& bucket, Visit&& visit, Between&& between) noexcept {
    ReadMark place;
    std::unique_lock hold(bucket.latch);
    ReadMark* at = bucket.first;
    while (true) {
      for (std::size_t passed = 0; at != nullptr && passed < kPortion; ++passed, at = at->next)
        if (at->owner != nullptr) visit(std::as_const(*at));
      if (at == nullptr) break;
      bucket.put_before(at, place);
      hold.unlock();
      between();
      let_waiters_in();
      hold.lock();
      at = place.next;
      bucket.take_out(place);
    }
    hold.unlock();
    between();
  }
  /// A thread that takes a latch again at once would keep out those that spin for it.
  static void let_waiters_in() noexcept {
    constexpr int kSpins = 16;
    for (int i = 0; i < kSpins; ++i) cpu_relax();
  }
  [[nodiscard]] Bucket& key_bucket(LockId id) const noexcept {
    return buckets_[(id.hash + raw(id.tree)) & mask_];
  }
  [[nodiscard]] Bucket& tree_bucket(TreeId tree) const noexcept {
    return buckets_[(raw(tree) * std::uint64_t{0x9E3779B97F4A7C15} >> 40U) & mask_];
  }
  enum class Added : std::uint8_t { yes, was_there, no_memory };
  Added put(MarkOwner& owner, LockId id, ReadPart part, bool is_of_tree) noexcept;
  void mark_tree(MarkOwner& owner, TreeId tree) noexcept;
  void remove(MarkOwner& owner, TreeId tree) noexcept;
  template <class Wanted>
  void remove_if(MarkOwner& owner, Wanted&& wanted) noexcept;
  static ReadMark* take_portion(MarkOwner& owner, ReadMark*& kept) noexcept;

  const Limits limits_;
  const std::size_t mask_;
  /// Zero bits are an empty bucket, so memory is touched only when one is used.
  std::unique_ptr<Bucket[], Free> buckets_;
  /// Guards the removal of marks against the split of a gap, which copies them. Held for a portion.
  Latch shape_latch_;
  alignas(64) std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint32_t> readers_of_all_{0};
  mutable Latch all_latch_;
  std::vector<MarkOwner*> have_read_all_;  ///< under all_latch_
};

}  // namespace swizzle::lock
