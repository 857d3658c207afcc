#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "storage/recovery/pending_pages.h"
#include "wal/log.h"

namespace swizzle {

/// Divides the pending pages into batches, oldest changes first, for a caller that redoes them all.
/// The records of a batch are read in one pass over the log and kept in memory, where the pages'
/// reads find them.
class RedoBatches {
 public:
  static constexpr std::uint64_t kUsualMemory = std::uint64_t{64} << 20U;

  enum class Pages : std::uint8_t {
    all,
    listed,  ///< only those whose lists of records are complete
  };
  struct Parts {
    PendingPages& pending;
    const wal::Log& log;
    /// LSN from which analysis read; records before it are not listed.
    Lsn listed_from = Lsn::none;
    /// Approximate memory for the copies of a batch's records.
    std::uint64_t memory_bytes = kUsualMemory;
    Pages pages = Pages::all;
  };
  /// Called during the work; false ends it early.
  using GoesOn = std::function<bool()>;

  /// First lists the records before `listed_from`, in one pass over the part of the log that
  /// analysis did not read.
  explicit RedoBatches(const Parts& parts);
  RedoBatches(const RedoBatches&) = delete;
  RedoBatches& operator=(const RedoBatches&) = delete;
  ~RedoBatches() { forget_batch(); }

  /// Returns the pages of the next batch, whose records are kept until the next call. Returns none
  /// after the last batch, or when `goes_on` has returned false.
  std::span<const PageId> next(const GoesOn& goes_on);
  /// Returns the number of pages in all batches.
  [[nodiscard]] std::size_t count() const noexcept { return pages_.size(); }

 private:
  void complete_lists();
  [[nodiscard]] std::size_t size_of_next() const;
  void collect(const GoesOn& goes_on);
  void forget_batch();

  const Parts parts_;
  std::vector<PageId> pages_;
  std::span<const PageId> left_;
  std::span<const PageId> batch_;
};

}  // namespace swizzle
