#pragma once

#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "storage/space/page_image.h"

namespace swizzle {

/// Pages that the data file does not have yet: a restore on demand leaves them in its backups until
/// they are first read. A page is absent until its first write, and lacking until it is in the pool
/// as a dirty page, is written or is given up. Thread-safe.
class AbsentPages {
 public:
  AbsentPages() = default;
  AbsentPages(const AbsentPages&) = delete;
  AbsentPages& operator=(const AbsentPages&) = delete;
  virtual ~AbsentPages() = default;

  /// True if the data file may not have the page. After a crash this may also be true of pages that
  /// it has: a page that is whole in the data file is never older than elsewhere.
  [[nodiscard]] virtual bool is_absent(PageId page) const noexcept = 0;
  /// True if the page is in use and absent, and in no frame. Never parks.
  [[nodiscard]] virtual bool is_lacking(PageId page) const noexcept = 0;
  /// Reads and checks the page where it lies. Parks.
  virtual Result<> read(PageId page, std::byte* into) = 0;
  /// Notes that the page is lacking no more.
  virtual void entered(PageId page) noexcept = 0;
  /// Notes that the data file has the pages, durably.
  virtual void written(std::span<const PageImage> images) noexcept = 0;
};

}  // namespace swizzle
