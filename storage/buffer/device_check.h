#pragma once

#include <array>
#include <cstring>

#include "base/invariant.h"
#include "storage/buffer/page_layout.h"
#include "storage/page/page.h"
#include "storage/space/page_image.h"
#include "wal/log.h"

namespace swizzle {

/// The last check of a page before it is written: the log is durable up to its LSN and it has
/// no address in it. Set with Volume::set_image_check; costs a walk over the references.
class DeviceCheck final : public ImageCheck {
 public:
  DeviceCheck(const wal::Log& log, PageLayout layout) noexcept : log_(log), layout_(layout) {}

  void before_write(const PageImage& image) noexcept override {
    INVARIANT(!log_.enabled() || load<PageHeader>(image.bytes).lsn < log_.durable());
    // A visitor may write, so it gets a copy.
    alignas(8) std::array<std::byte, kPageBytes> copy;
    std::memcpy(copy.data(), image.bytes, kPageBytes);
    layout_.visit_refs(
        copy.data(), [](void* /*context*/, PageRef* at) { INVARIANT(!load_ref(at).is_swizzled()); },
        nullptr);
  }

 private:
  const wal::Log& log_;
  const PageLayout layout_;
};

}  // namespace swizzle
