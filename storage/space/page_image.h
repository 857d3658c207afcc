#pragma once

#include <cstddef>

#include "base/ids.h"

namespace swizzle {

/// A sealed copy of a page that is to be written. `bytes` has kPageBytes and stays valid and
/// unchanged until the write is done; its alignment does not matter.
struct PageImage {
  PageId page;
  const std::byte* bytes;
};

/// Checks every page image right before it is written: the log is durable up to its LSN, and
/// it contains no address. Aborts otherwise.
class ImageCheck {
 public:
  ImageCheck() = default;
  ImageCheck(const ImageCheck&) = delete;
  ImageCheck& operator=(const ImageCheck&) = delete;
  virtual ~ImageCheck() = default;

  virtual void before_write(const PageImage& image) noexcept = 0;
};

}  // namespace swizzle
