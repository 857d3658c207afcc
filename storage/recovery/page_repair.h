#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// Rebuilds a single page whose copy on disk is damaged: from its image in the double-write area or
/// the last image in the log, and the records of its chain since. Thread-safe.
class PageRepair {
 public:
  PageRepair(Volume& volume, const wal::Log& log) noexcept : volume_(volume), log_(log) {}

  /// Fills `into` with the page as its newest durable record left it. XX001 that says what is
  /// missing when neither image is to be had. Parks; no latch held. Searches the log backward for
  /// the page's newest record, so it may take as long as reading the log that is kept.
  Result<> rebuild(PageId page, std::byte* into);

  [[nodiscard]] std::uint64_t repaired() const noexcept {
    return repaired_.load(std::memory_order_relaxed);
  }

 private:
  Volume& volume_;
  const wal::Log& log_;
  std::atomic<std::uint64_t> repaired_{0};
};

}  // namespace swizzle
