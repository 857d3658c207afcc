#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "storage/recovery/older_copies.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// Rebuilds a single page whose copy on disk is damaged or old. It starts from the page's image in
/// the double-write area, from the last image in the log or from the old copy, and applies the
/// later records of the page's chain. If none of these reaches, it starts from the page's copy in a
/// backup, and reads what the log has lost since from the archive (rule R23). Thread-safe.
class PageRepair {
 public:
  PageRepair(Volume& volume, const wal::Log& log) noexcept : volume_(volume), log_(log) {}
  /// Call before the first repair. `copies` outlive this; null: there are none.
  void use_copies(OlderCopies* copies) noexcept { copies_ = copies; }

  /// Fills `into` with the page as of its newest durable record. Returns XX001, which names the
  /// missing part, if there is no image. Parks; no latch held. Searches the log backward for the
  /// page's newest record, which may take as long as reading all the log that is kept, or that was
  /// written since the backup.
  Result<> rebuild(PageId page, std::byte* into) { return rebuild(page, Lsn::none, into); }
  /// The same with `newest` as the page's newest record; none: searches for it.
  Result<> rebuild(PageId page, Lsn newest, std::byte* into);

  /// Redoes an older, whole page in `into` up to `newest`, by its chain of records, which needs no
  /// search. Otherwise the same as rebuild().
  Result<> renew(PageId page, Lsn newest, std::byte* into);

  /// Calls rebuild() if `newest` is none, else renew().
  Result<> mend(PageId page, Lsn newest, std::byte* into) {
    return newest == Lsn::none ? rebuild(page, into) : renew(page, newest, into);
  }

  [[nodiscard]] std::uint64_t repaired() const noexcept {
    return repaired_.load(std::memory_order_relaxed);
  }

 private:
  /// The page's newest record. A search that has found none ended at `searched_to`.
  struct Newest {
    Lsn lsn = Lsn::none;
    Lsn searched_to = Lsn::none;
  };
  Result<> rebuild_from_log(PageId page, Newest& newest, std::byte* into);
  Result<> renew_from_log(PageId page, Lsn newest, std::byte* into);
  Result<> or_from_copy(PageId page, const Newest& newest, std::byte* into, Result<> from_log);
  Result<> rebuild_from_copy(PageId page, const Newest& newest, std::byte* into);
  /// Makes XX001 of a missing log segment: it was released after the log was asked for its begin,
  /// or it is lost. In either case a retry will not help.
  static Result<> as_lost(PageId page, Result<> result);

  Volume& volume_;
  const wal::Log& log_;
  OlderCopies* copies_ = nullptr;
  std::atomic<std::uint64_t> repaired_{0};
};

}  // namespace swizzle
