#pragma once

#include "storage/buffer/page_store.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"

namespace swizzle {

/// Volume and space map as the pool sees them.
class DataFile final : public PageStore {
 public:
  DataFile(Volume& volume, SpaceMap& map) noexcept : volume_(volume), map_(map) {}

  Result<> read_page(PageId page, std::byte* into) override {
    return volume_.read_page(page, into);
  }
  Result<PageId> reserve_page(std::optional<PageId> near) override { return map_.reserve(near); }
  void cancel_reservation(PageId page) noexcept override { map_.cancel(page); }
  void mark_allocated(PageId page) noexcept override { map_.mark_allocated(page); }
  void mark_free(PageId page) noexcept override { map_.mark_free(page); }

 private:
  void begin_marks() noexcept override { map_.begin_marks(); }
  void end_marks() noexcept override { map_.end_marks(); }

  Volume& volume_;
  SpaceMap& map_;
};

}  // namespace swizzle
