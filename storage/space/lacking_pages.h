#pragma once

#include <cstddef>

#include "base/ids.h"
#include "base/result.h"

namespace swizzle {

/// Pages whose copy on disk lacks changes that are in the log: after a crash, until each is redone.
/// Thread-safe.
class LackingPages {
 public:
  LackingPages() = default;
  LackingPages(const LackingPages&) = delete;
  LackingPages& operator=(const LackingPages&) = delete;
  virtual ~LackingPages() = default;

  [[nodiscard]] virtual bool contains(PageId page) const noexcept = 0;
  /// Reads the page and applies its changes. Returns the oldest change that the copy on disk lacks;
  /// the page stays in the set until erase(). Returns none if the copy on disk has them all; the
  /// page has left the set then. Parks; no latch held.
  virtual Result<Lsn> read(PageId page, std::byte* into) = 0;
  /// Removes the page, which has entered the pool as a dirty page.
  virtual void erase(PageId page) noexcept = 0;
};

}  // namespace swizzle
