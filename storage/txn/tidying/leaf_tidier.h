#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/ids.h"
#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"
#include "storage/btree/btree.h"
#include "storage/engine.h"
#include "storage/latch/spin_latch.h"
#include "storage/txn/tidying/key_ranges.h"
#include "storage/txn/tidying/leftovers.h"

namespace swizzle {

struct EngineParts;

/// The background task that reclaims the space of removed records: it removes unneeded ghosts,
/// merges sparse leaves and so frees pages (rule T24). It visits the leaves that hints name. The
/// reclaimer of versions gives a hint for each removal that no snapshot needs any more, a rollback
/// one for each insert that it undid, a scan one for leaves full of ghosts. Hints are lost at a
/// stop and in a crash; the next start finds the leaves by their pages (leftovers.h).
class LeafTidier {
 public:
  explicit LeafTidier(EngineParts& engine) : engine_(engine), leftovers_(engine) {}
  LeafTidier(const LeafTidier&) = delete;
  LeafTidier& operator=(const LeafTidier&) = delete;
  ~LeafTidier() { stop(); }

  void start();
  /// Parks until the task has ended; it may stop in the middle of its hints. Idempotent.
  void stop() noexcept { task_.stop(); }

  /// Tells that leaves with keys from `low` to `high` may have removable ghosts. Callable under
  /// latches.
  void hint(TreeId tree, Bytes low, Bytes high) noexcept;
  /// The same for all ranges of a set. Post: `ranges` is empty.
  void hint(KeyRanges&& ranges) noexcept;
  /// Notes a page that recovery has redone: no hint tells of its ghosts.
  void redone(const std::byte* page) noexcept { leftovers_.redone(page); }
  /// Counts a hint for which there was no memory.
  void lost_hint() noexcept { counters_.hints_lost.fetch_add(1, std::memory_order_relaxed); }

  /// Tidies every leaf of an open tree, and of its large values. Parks. Calls `goes_on` between
  /// leaves, and stops when it returns false.
  Result<TidiedTree> tidy(TreeId tree, const GoesOn& goes_on);

  /// While it lives, no leaf is tidied: for checks of whole trees.
  class Pause {
   public:
    explicit Pause(LeafTidier& of) : of_(of) {
      const std::lock_guard hold(of_.working_);
      of_.pauses_.fetch_add(1);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { of_.pauses_.fetch_sub(1); }

   private:
    LeafTidier& of_;
  };
  /// While it lives, no leaf is being tidied; hold it briefly. Afterwards the task does not visit
  /// trees that have left the table, or whose load has begun, meanwhile.
  class Exclusion {
   public:
    explicit Exclusion(LeafTidier& of) : hold_(of.working_) {}

   private:
    std::lock_guard<ParkMutex> hold_;
  };

  /// Returns when the current visit has ended.
  void await_visit() { const std::lock_guard hold(working_); }

  struct Counters {
    std::atomic<std::uint64_t> leaves{0};  ///< visited
    std::atomic<std::uint64_t> ghosts_removed{0};
    std::atomic<std::uint64_t> pages_freed{0};
    std::atomic<std::uint64_t> hints_lost{0};  ///< lost because the set was full
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  /// Returns the number of key ranges that wait for a visit.
  [[nodiscard]] std::size_t hints() noexcept;

 private:
  enum class Outcome : std::uint8_t {
    done,
    tired,  ///< the round has visited, or read, its limit of leaves
    failed,
  };
  void run();
  Outcome work_off(KeyRanges ranges, TidyEffort effort);
  Outcome walk(KeyRanges::Range& range, TidyEffort effort);
  void put_back(KeyRanges&& ranges, TidyEffort effort);
  void visit_later(const KeyRanges::Range& leaf);
  KeyRanges take_hints() noexcept;
  /// Returns nothing if the tree is not open, or a load of it has not committed.
  Result<std::optional<TidiedLeaf>> visit(TreeId tree, Bytes key, TidyEffort effort,
                                          LeafCopy& copy);
  Result<bool> may_visit_now(TreeId tree, Bytes key);
  Result<> tidy_between(TreeId tree, const KeyRanges::Range& range, const GoesOn& goes_on,
                        TidiedTree& all);

  EngineParts& engine_;
  /// Held while a leaf is tidied.
  ParkMutex working_;
  std::atomic<int> pauses_{0};
  SpinLatch hints_mutex_;
  KeyRanges hints_;
  Leftovers leftovers_;

  // Private to the task.
  LeafCopy copy_;
  KeyRanges later_;
  TimePoint later_at_{};
  Duration later_pause_{};
  std::uint32_t reads_left_ = 0;   ///< in the round
  std::uint32_t visits_left_ = 0;  ///< in the round
  /// End of the leaves visited in the last round, where the next one begins.
  TreeId tree_{};
  std::string visited_below_;

  Counters counters_;
  BackgroundTask task_;
};

}  // namespace swizzle
