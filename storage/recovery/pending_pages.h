#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "wal/record.h"

namespace swizzle {

/// A page whose copy on disk may lack changes that the log has.
struct PendingPage {
  /// The first record that the copy on disk may lack.
  Lsn since = Lsn::none;
  /// The newest record of the page; none: not known.
  Lsn newest = Lsn::none;
  /// The page's records that analysis has read, in the order of the log.
  std::vector<Lsn> records = {};
  /// True if `records` has all records from `since` on.
  bool is_complete = false;
};
using PendingPageMap = std::unordered_map<PageId, PendingPage>;

/// Copies of a page's log records, in the order of the log.
class PageRecords {
 public:
  void add(const wal::Record& record);
  /// Reverses the order, after the records were added from the newest to the oldest.
  void reverse() noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return records_.size(); }
  [[nodiscard]] wal::Record at(std::size_t index) const noexcept;

 private:
  struct Kept {
    wal::Record record;
    std::size_t payload = 0;
  };
  std::vector<Kept> records_;
  std::vector<std::byte> payloads_;
};

/// The pages that are still to be redone, after a start. A page leaves the set when it is in the
/// pool as a dirty page, is written, is freed or is given up; until then each checkpoint lists it
/// (rule R13). Thread-safe; its mutex is a leaf, and nothing parks under it.
class PendingPages {
 public:
  explicit PendingPages(PendingPageMap pages);
  PendingPages(const PendingPages&) = delete;
  PendingPages& operator=(const PendingPages&) = delete;

  [[nodiscard]] std::size_t count() const noexcept {
    // Acquire: a reader that finds nothing pending sees what was written before.
    return count_.load(std::memory_order_acquire);
  }
  /// Returns the number of records that are listed for the pages in the set.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return changes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool contains(PageId page) const noexcept;
  /// Removes the page. Returns true if it was the last one in the set.
  bool erase(PageId page) noexcept;

  /// State of a page, and its records if they are in memory. Null if the page is not pending.
  struct Known {
    std::shared_ptr<const PendingPage> page;
    std::shared_ptr<const PageRecords> records;
  };
  [[nodiscard]] Known find(PageId page) const;
  /// Returns the pages for a checkpoint, which calls this before it examines the frames.
  [[nodiscard]] std::vector<DirtyPage> list() const;
  [[nodiscard]] std::vector<PageId> in_log_order() const;

  /// Returns the pages whose lists of records do not begin with the first record that they lack.
  [[nodiscard]] PendingPageMap incomplete() const;
  /// Replaces the entries of pages that are still pending.
  void update(PendingPageMap pages);
  /// Keeps copies of a page's records until the page leaves the set; null drops them.
  void keep_records(PageId page, std::shared_ptr<const PageRecords> records);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<PageId, Known> pages_;
  std::atomic<std::size_t> count_;
  std::atomic<std::uint64_t> changes_{0};  ///< written with mutex_ held
};

}  // namespace swizzle
