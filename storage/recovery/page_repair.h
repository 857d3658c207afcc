#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// Rebuilds a single page whose copy on disk is damaged or old: from its image in the double-write
/// area, the last image in the log or the old copy, and the records of its chain since.
/// Thread-safe.
class PageRepair {
 public:
  PageRepair(Volume& volume, const wal::Log& log) noexcept : volume_(volume), log_(log) {}

  /// Fills `into` with the page as its newest durable record left it. Returns XX001, which names
  /// the missing part, if there is neither image. Parks; no latch held. Searches the log backward
  /// for the page's newest record, so it may take as long as reading the log that is kept.
  Result<> rebuild(PageId page, std::byte* into) { return rebuild(page, Lsn::none, into); }
  /// The same to `newest`, the page's newest record; none: searches for it.
  Result<> rebuild(PageId page, Lsn newest, std::byte* into);

  /// Redoes an older, whole page in `into` to `newest`, by its chain of records, which needs no
  /// search. Otherwise as rebuild().
  Result<> renew(PageId page, Lsn newest, std::byte* into);

  /// Calls rebuild() if `newest` is none, else renew().
  Result<> mend(PageId page, Lsn newest, std::byte* into) {
    return newest == Lsn::none ? rebuild(page, into) : renew(page, newest, into);
  }

  [[nodiscard]] std::uint64_t repaired() const noexcept {
    return repaired_.load(std::memory_order_relaxed);
  }

 private:
  Result<> apply(const std::vector<Lsn>& chain, PageId page, std::byte* into);

  Volume& volume_;
  const wal::Log& log_;
  std::atomic<std::uint64_t> repaired_{0};
};

}  // namespace swizzle
