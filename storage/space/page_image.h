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

/// Looks at every page image right before it goes to the device: that the log is ahead of it
/// and that no address is in it. Aborts where it is not so.
class ImageCheck {
 public:
  ImageCheck() = default;
  ImageCheck(const ImageCheck&) = delete;
  ImageCheck& operator=(const ImageCheck&) = delete;
  virtual ~ImageCheck() = default;

  virtual void before_write(const PageImage& image) noexcept = 0;
};

}  // namespace swizzle
