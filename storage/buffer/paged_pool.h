#pragma once

#include <mutex>

#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/page_table.h"

namespace swizzle {

/// What the two modes that page share: reading absent pages, and evicting resident ones that are in
/// the page table.
class PagedPool : public BufferPool {
 public:
  PagedPool(FrameArena arena, PageStore& store, PageLayout layout)
      : BufferPool(std::move(arena), store, layout), table_(arena_.count()) {}

  /// Reads a page whose read the caller has claimed. Parks; no latch held. Where the page is
  /// afterwards may have changed again: the caller descends anew.
  Result<> read_claimed(PageId page);

 protected:
  /// Pre: state unswizzled. False when it is in use, dirty or just leaving. On true the frame is
  /// free.
  bool try_evict(Frame& frame) noexcept;
  void forget(Frame& frame) noexcept override;
  Frame* find_unswizzled(PageId page) noexcept override { return table_.find(page); }
  /// A page has been read and is in the table.
  virtual void on_loaded(Frame& frame) noexcept = 0;

  PageTable table_;
};

}  // namespace swizzle
