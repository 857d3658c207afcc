#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/runtime/runtime.h"
#include "storage/options.h"
#include "storage/recovery/page_repair.h"
#include "storage/recovery/pending_pages.h"
#include "storage/recovery/record_runs.h"
#include "storage/recovery/redo_batches.h"
#include "storage/space/absent_pages.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/lacking_pages.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// Redoes a page when it is read: applies the records that its copy on disk lacks. The page enters
/// the pool dirty. So does a page that the data file does not have yet (absent_pages.h). A page
/// that is damaged or has lost a write is rebuilt and written back at once; one that cannot be
/// rebuilt is given up (rule R9). Logs nothing. Thread-safe.
class PageRedo final : public LackingPages {
 public:
  struct Parts {
    Volume& volume;
    const wal::Log& log;
    PageRepair& repair;
    PendingPages& pending;
    /// May be null: then each read of a page that cannot be rebuilt tries again.
    GivenUpPages* given_up = nullptr;
    /// Tells the server's log when no page is pending any more.
    bool tells = true;
    /// Pages that the data file does not have yet; null: it has all.
    AbsentPages* absent = nullptr;
    /// Called with each page that was redone, or empty.
    std::function<void(const std::byte* page)> redone = {};
  };
  explicit PageRedo(Parts parts) noexcept;

  [[nodiscard]] bool contains(PageId page) const noexcept override {
    return parts_.pending.contains(page) || lacks_copy(page);
  }
  /// Reads the page and redoes it. A record is applied if and only if the page's LSN is before it
  /// (rule R3). Returns XX001 for a page that is given up, and for one that is ahead of the log.
  Result<Lsn> read(PageId page, std::byte* into) override;
  void erase(PageId page) noexcept override;

  /// Redoes and writes every pending page, where no pool reads pages. Analysis has read from
  /// `listed_from` on. Ends early if `goes_on` returns false. Pre: no page is in use.
  Result<> write_all(
      Lsn listed_from, const RecoveryObserver& observer,
      const RedoBatches::GoesOn& goes_on = [] { return true; });

  /// From now on records that the pages' lists do not have come from `runs`, which outlive all
  /// reads. Pre: they have all records before the ones that analysis has read.
  void use_runs(const RecordRuns& runs) noexcept {
    // Release: publishes the runs.
    runs_.store(&runs, std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t changes_applied() const noexcept {
    return changes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t pages_redone() const noexcept {
    return pages_.load(std::memory_order_relaxed);
  }
  /// Returns the microseconds from the start until no page was pending; -1 if some still are.
  [[nodiscard]] std::int64_t done_us() const noexcept {
    return done_us_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool lacks_copy(PageId page) const noexcept {
    return parts_.absent != nullptr && parts_.absent->is_lacking(page);
  }
  Result<Lsn> redo(PageId page, const PendingPages::Known& known, std::byte* into);
  Result<PageRecords> read_records(PageId page, const PendingPage& pending) const;
  Result<> read_listed(const PendingPage& pending, PageRecords& into) const;
  Result<PageRecords> read_chain(PageId page, const PendingPage& pending) const;
  Result<Lsn> read_copy(PageId page, const PageRecords& records, std::byte* into);
  /// The state that a page is rebuilt from: the older page in `into`, or an image in the
  /// double-write area or the log.
  enum class Base : std::uint8_t { copy, images };
  Result<Lsn> rebuild(PageId page, Lsn newest, Base base, std::byte* into, Error&& why);
  Result<> write_back(PageId page, std::byte* into);
  std::unexpected<Error> give_up(PageId page, Lsn newest, Error&& why);

  const Parts parts_;
  /// The end of the log at the start.
  const Lsn log_end_;
  const TimePoint began_;
  const std::size_t pages_at_start_;
  std::atomic<const RecordRuns*> runs_{nullptr};
  std::atomic<std::int64_t> done_us_{-1};
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::uint64_t> pages_{0};
};

}  // namespace swizzle
