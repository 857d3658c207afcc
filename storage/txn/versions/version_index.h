#pragma once

#include <cstdlib>
#include <memory>
#include <span>

#include "base/memory/swapped_out.h"
#include "base/runtime/runtime.h"
#include "storage/engine.h"
#include "storage/latch/spin_latch.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/undo/undo_log.h"
#include "storage/txn/versions/removed_runs.h"

namespace swizzle {

/// Keys that differ only in their last byte have consecutive hashes, so that the entries of numbers
/// given out in order lie side by side.
std::uint64_t hash_of_key(TreeId tree, Bytes key) noexcept;

/// Is told of changes that a reader's snapshot does not show.
class MissedChanges {
 public:
  MissedChanges() = default;
  MissedChanges(const MissedChanges&) = delete;
  MissedChanges& operator=(const MissedChanges&) = delete;
  virtual ~MissedChanges() = default;
  /// Called under a latch, with the transaction that has replaced the version that was read.
  virtual void missed(lock::SerialId writer) noexcept = 0;
};

/// Reader of versions: it sees commits below its snapshot, and its own changes except those of the
/// running statement.
struct Viewer {
  Lsn snapshot = Lsn::max;
  const UndoLog* own = nullptr;
  /// Own changes of this statement and later ones are hidden; 0 hides none.
  std::uint32_t statement = 0;
  /// Visibility of a key without versions: hidden in a tree that was loaded after the viewer's
  /// snapshot.
  enum class Unversioned : std::uint8_t { visible, hidden };
  Unversioned unversioned = Unversioned::visible;
  MissedChanges* missed = nullptr;  ///< of a serializable reader; or null
};

/// Index from a key to the undo records that other transactions may need, newest first. A writer
/// adds its record under the leaf's exclusive latch, before the leaf changes.
class VersionIndex {
 public:
  explicit VersionIndex(std::size_t buckets);

  /// Prefetches the bucket of a key that add() or remove() will need soon.
  void prefetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&buckets_[hash & mask_], 1);
  }

  /// Prefetches the newest record in the bucket, of any key. Call some time after prefetch().
  void prefetch_newest(std::uint64_t hash) const noexcept {
    __builtin_prefetch(buckets_[hash & mask_].first.load(std::memory_order_relaxed), 1);
  }

  // For add() and its variants, `leaf` is the key's leaf: it is held exclusively, or its version is
  // validated afterwards. It is none in trees in which no runs are removed.

  void add(UndoRecord& record, PageId leaf) noexcept;
  /// The same for a key that the leaf does not have, not even as a ghost. A ghost stays as long as
  /// its key has versions, so this key has none, and no search for them is needed.
  void add_first(UndoRecord& record) noexcept;
  /// The same for a key whose older versions no reader needs. They stay behind the new one, which
  /// hides them, until they are removed. Touches no other record, each of which may have to be read
  /// from a file.
  void add_over_settled(UndoRecord& record, PageId leaf) noexcept;
  /// The same for all keys of a RemovedRun at once.
  void add_run(UndoRecord& run, PageId leaf) noexcept { runs_.add(run, leaf); }
  void remove(UndoRecord& record) noexcept;
  /// Replaces the record by `copy`, which differs from it only in the links. Pre: the record is no
  /// RemovedRun.
  void replace(UndoRecord& record, UndoRecord& copy) noexcept;
  /// Returns the commit that made the version which the record has; none if no older record is
  /// known. Pre: as for replace(), and the record's transaction has committed.
  [[nodiscard]] Lsn made_at(const UndoRecord& record) noexcept;
  /// Notes that the record's change is undone; for a RemovedRun, that its last change is.
  void undone(UndoRecord& record) noexcept;
  void records_moved(PageId from, PageId to) noexcept { runs_.records_moved(from, to); }

  enum class Version : std::uint8_t {
    current,  ///< the leaf has the version
    older,    ///< what `copy` was called with
    absent,   ///< the key did not exist
  };
  /// Finds the version of the key that `viewer` sees. `copy(Bytes value, bool overflow)` runs under
  /// a latch.
  template <class Copy>
  Version find(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf, const Viewer& viewer,
               Copy&& copy) noexcept {
    Bucket& bucket = bucket_of(hash);
    const bool hides = viewer.unversioned == Viewer::Unversioned::hidden;
    if (bucket.first.load(std::memory_order_acquire) == nullptr && runs_.empty())
      return hides ? Version::absent : Version::current;
    const std::lock_guard hold(bucket.mutex);
    const Way way = way_to(newest_of(bucket, tree, key, hash), tree, leaf, key, viewer);
    if (viewer.missed != nullptr) [[unlikely]]
      tell_missed(way, *viewer.missed);
    if (way.seen == nullptr && way.run != Way::Run::seen && hides) return Version::absent;
    if (way.run == Way::Run::hidden) {
      copy(Bytes{}, false);
      return Version::older;
    }
    if (way.hidden == nullptr) return Version::current;
    if (way.hidden->kind == UndoRecord::Kind::inserted) return Version::absent;
    copy(way.hidden->old_value(), way.hidden->old_overflow);
    return Version::older;
  }

  struct Committed {
    Version version = Version::current;
    Lsn commit = Lsn::none;  ///< commit of another transaction that wrote the version, if perhaps
                             ///< not durable yet
  };
  /// Finds the version that stands if all uncommitted changes except those of `own` are undone.
  template <class Copy>
  Committed find_committed(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                           const UndoLog* own, Copy&& copy) noexcept {
    Bucket& bucket = bucket_of(hash);
    if (bucket.first.load(std::memory_order_acquire) == nullptr && runs_.empty()) return {};
    const std::lock_guard hold(bucket.mutex);
    const Viewer of_all_commits{.own = own};
    const Way way = way_to(newest_of(bucket, tree, key, hash), tree, leaf, key, of_all_commits);
    Committed found;
    if (way.seen != nullptr && way.seen->log != own)
      found.commit = Lsn{way.seen->log->outcome.load(std::memory_order_relaxed)};
    if (way.run == Way::Run::seen) found.commit = way.run_commit;
    if (way.run == Way::Run::hidden) {
      found.version = Version::older;
      copy(Bytes{}, false);
      return found;
    }
    if (way.hidden == nullptr) return found;
    found.version =
        way.hidden->kind == UndoRecord::Kind::inserted ? Version::absent : Version::older;
    if (found.version == Version::older) copy(way.hidden->old_value(), way.hidden->old_overflow);
    return found;
  }

  /// The transaction that holds a key by its changes of it. Whoever locks the key must ask for it.
  struct Mark {
    lock::Access access =
        lock::Access::none;  ///< access that the writer, if not committed, denies others
    bool is_own = false;
    lock::TransactionLock holder =
        lock::TransactionLock::none;  ///< another transaction, to be waited for
    Lsn commit = Lsn::none;  ///< commit of the newest version, if another transaction wrote it and
                             ///< has committed

    [[nodiscard]] bool excludes(lock::Access wanted) const noexcept {
      return !is_own && !compatible(access, wanted);
    }
  };
  /// Returns true if a transaction keeps no locks on keys that it has changed. Only then must a
  /// transaction that locks a key call mark_of(), when it reads the leaf, or has it latched.
  [[nodiscard]] bool has_marks() const noexcept {
    return markers_.load(std::memory_order_seq_cst) != 0;
  }
  /// Call begin_marking() before a transaction's first change without a lock, and end_marking()
  /// when its last such change is undone or durable.
  void begin_marking() noexcept { markers_.fetch_add(1, std::memory_order_seq_cst); }
  void end_marking() noexcept { markers_.fetch_sub(1, std::memory_order_seq_cst); }
  [[nodiscard]] Mark mark_of(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                             const UndoLog* own) noexcept;
  /// Returns true if the newest version of the key is another transaction's and not below the
  /// snapshot. Pre: the key exists, or did.
  [[nodiscard]] bool changed_since(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                                   const Viewer& viewer) noexcept;
  /// Returns true if the viewer sees a record under the key, which has none now.
  [[nodiscard]] bool had_one(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                             const Viewer& viewer) noexcept {
    return find(tree, key, hash, leaf, viewer, [](Bytes, bool) {}) == Version::older;
  }
  /// Follows a record by one step, see Tree::trace(). `copy(Bytes key)` runs under a latch.
  template <class Copy>
  Tree::Fate trace(TreeId tree, Bytes key, std::uint64_t hash, const Viewer& viewer,
                   Tree::KeyPath& path, Copy&& copy) noexcept {
    Bucket& bucket = bucket_of(hash);
    // Versions younger than the view are kept as long as the view.
    if (bucket.first.load(std::memory_order_acquire) == nullptr) return Tree::Fate::stays;
    const std::lock_guard hold(bucket.mutex);
    const UndoRecord* at = first_after(newest_of(bucket, tree, key, hash), viewer, path);
    const Viewer of_all_commits{};
    for (; at != nullptr; at = at->newer) {
      if (at->log == viewer.own || !is_visible(*at, of_all_commits)) break;
      if (at->kind == UndoRecord::Kind::removed) return Tree::Fate::gone;
      const UndoRecord* const next = at->went_to();
      if (next == nullptr) continue;
      // All records of the log exist as long as one of them does.
      path.at = next;
      copy(next->key());
      return Tree::Fate::moved;
    }
    return Tree::Fate::stays;
  }
  /// Returns the fate of the record that the viewer sees under the key.
  [[nodiscard]] Tree::Fate fate(TreeId tree, Bytes key, std::uint64_t hash,
                                const Viewer& viewer) noexcept {
    Tree::KeyPath path;
    return trace(tree, key, hash, viewer, path, [](Bytes) {});
  }
  /// Returns the error for a transaction that came too late for a key.
  [[nodiscard]] Error conflict(TreeId tree, Bytes key, std::uint64_t hash, const Viewer& viewer);
  /// Returns the length of the longest value that the rollback of an open transaction can restore
  /// under the key; 0 if there is none.
  [[nodiscard]] std::size_t longest_uncommitted(TreeId tree, Bytes key,
                                                std::uint64_t hash) noexcept;
  [[nodiscard]] bool has(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf) noexcept;
  /// Returns false if the key has no version here; true if it may have one. Touches no record
  /// except runs.
  [[nodiscard]] bool may_have(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf) noexcept;

  /// Returns the first address in swapped-out memory (base/memory/swapped_out.h) that a search for
  /// the key's versions would touch, or null. Touches none.
  [[nodiscard]] const void* first_swapped_out(std::uint64_t hash, PageId leaf) noexcept {
    return swapped_out::any() ? find_first_swapped_out(hash, leaf) : nullptr;
  }
  /// The same for the removal of the record from the index.
  [[nodiscard]] const void* first_swapped_out_before(const UndoRecord& record) noexcept {
    return swapped_out::any() ? find_first_swapped_out_before(record) : nullptr;
  }
  /// Pages in all that such a search would touch, by a helper thread. May park; no latch held.
  /// Others may swap the versions out again meanwhile.
  void page_in(std::uint64_t hash, PageId leaf) {
    page_in_all([&] { return first_swapped_out(hash, leaf); });
  }
  void page_in_before(const UndoRecord& record) {
    page_in_all([&] { return first_swapped_out_before(record); });
  }

 private:
  template <class Find>
  static void page_in_all(Find&& find) {
    constexpr int kMost = 64;
    for (int i = 0; i < kMost; ++i) {
      const void* const at = find();
      if (at == nullptr) return;
      Runtime::current().run_aside([at] { swapped_out::page_in(at); });
    }
  }
  const void* find_first_swapped_out(std::uint64_t hash, PageId leaf) noexcept;
  const void* find_first_swapped_out_before(const UndoRecord& record) noexcept;

  /// Bucket of the index. Records may be in files, and following a link reads them, so a bucket has
  /// bits in memory by which it tells that it has no record of a key.
  struct Bucket {
    SpinLatch mutex;
    std::uint16_t seen_more = 0;  ///< one bit for each key
    std::uint32_t seen = 0;       ///< two bits for each key that came since the bucket was empty
    std::atomic<UndoRecord*> first{nullptr};

    // The lowest bits chose the bucket, so the bits come from higher ones.
    static constexpr std::uint32_t bits_of(std::uint64_t hash) noexcept {
      return std::uint32_t{1} << (hash >> 59U) | std::uint32_t{1} << (hash >> 54U & 31U);
    }
    static constexpr std::uint16_t more_bits_of(std::uint64_t hash) noexcept {
      return static_cast<std::uint16_t>(1U << (hash >> 50U & 15U));
    }
    void note(std::uint64_t hash) noexcept {
      seen |= bits_of(hash);
      seen_more = static_cast<std::uint16_t>(seen_more | more_bits_of(hash));
    }
    void forget() noexcept { seen = seen_more = 0; }
    [[nodiscard]] bool may_have(std::uint64_t hash) const noexcept {
      return (~seen & bits_of(hash)) == 0 && (seen_more & more_bits_of(hash)) != 0;
    }
  };
  static_assert(sizeof(Bucket) == 16);
  [[nodiscard]] Bucket& bucket_of(std::uint64_t hash) noexcept { return buckets_[hash & mask_]; }
  /// The walk from a key's newest version to the one that a viewer sees.
  struct Way {
    const UndoRecord* hidden =
        nullptr;  ///< the last record on the walk that the viewer does not see
    const UndoRecord* seen =
        nullptr;  ///< the version that it sees; null: the one before all that are kept
    /// Tells if the walk ended at a run; versions older than a run are settled.
    enum class Run : std::uint8_t { none, seen, hidden };
    Run run = Run::none;
    Lsn run_commit = Lsn::none;  ///< commit of another transaction's run that is seen
    lock::SerialId run_writer = lock::SerialId::none;  ///< of a run that is hidden
  };
  static void tell_missed(const Way& way, MissedChanges& to) noexcept {
    if (way.run == Way::Run::hidden) return to.missed(way.run_writer);
    if (way.hidden != nullptr) to.missed(way.hidden->log->serial.load(std::memory_order_relaxed));
  }
  static Mark mark_of(const UndoRecord& newest, const UndoLog* own) noexcept;
  Way way_to(const UndoRecord* newest, TreeId tree, PageId leaf, Bytes key,
             const Viewer& viewer) noexcept;
  void push(UndoRecord& record) noexcept;
  static void put_in_front(Bucket& bucket, UndoRecord& record) noexcept;
  static UndoRecord* newest_of(Bucket& bucket, TreeId tree, Bytes key, std::uint64_t hash) noexcept;
  static std::uint64_t outcome_of(const UndoOutcome& log) noexcept;
  static bool is_visible(const UndoRecord& record, const Viewer& viewer) noexcept;
  /// Returns the first change after the viewer's view, or after the path's position.
  static const UndoRecord* first_after(const UndoRecord* newest, const Viewer& viewer,
                                       const Tree::KeyPath& path) noexcept;

  struct Free {
    void operator()(Bucket* buckets) const noexcept { std::free(buckets); }
  };
  std::size_t mask_;
  /// An empty bucket is all zero bits, so memory is taken only for buckets in use.
  std::unique_ptr<Bucket[], Free> buckets_;
  RemovedRuns runs_;
  /// Read by all threads, written by few.
  alignas(64) std::atomic<std::uint32_t> markers_{0};
};

}  // namespace swizzle
