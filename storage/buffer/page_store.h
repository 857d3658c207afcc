#pragma once

#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "storage/page/page_read.h"

namespace swizzle {

/// Source of a pool's absent pages and of numbers for new ones. The data file implements it; tests
/// and in-memory experiments have smaller ones.
class PageStore {
 public:
  PageStore() = default;
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;
  virtual ~PageStore() = default;

  /// Reads and checks the page; parks. Returns the oldest log record that the copy on disk lacks,
  /// and that has been redone in `into`; none: it lacks nothing. Otherwise the reader calls
  /// entered() once the page is in a frame that is dirty since that record.
  virtual Result<Lsn> read_page(PageId page, std::byte* into) = 0;
  virtual void entered(PageId /*page*/) noexcept {}
  /// True if the copy on disk lacks changes and no frame has the page.
  [[nodiscard]] virtual bool lacks_changes(PageId /*page*/) const noexcept { return false; }
  /// Starts reads without waiting for them; `done` follows for each, possibly at once. A store that
  /// cannot read ahead fails them all, as here; the pages are then read when they are needed.
  virtual void start_reads(std::span<PageRead* const> reads) noexcept {
    for (PageRead* read : reads) {
      read->request.error = EOPNOTSUPP;
      read->done(*read);
    }
  }
  /// True if a started read brought its page, whole. Pre: it is done.
  [[nodiscard]] virtual bool has_read(const PageRead& read) const noexcept {
    return read.request.error == 0;
  }

  /// True if the page must not be used, though it may be in memory; given_up() says why.
  [[nodiscard]] virtual bool is_given_up(PageId /*page*/) const noexcept { return false; }
  [[nodiscard]] virtual std::optional<Error> given_up(PageId /*page*/) const {
    return std::nullopt;
  }
  /// Renews a page that does not match its parent, and that the caller has at LSN `at`: its newest
  /// state comes to `into` and to disk. False: there is no newer one. Parks. Pre: no write of the
  /// page is under way.
  virtual bool renew_doubted(PageId /*page*/, Lsn /*at*/, std::byte* /*into*/) { return false; }

  /// A reservation is no allocation: the page counts as allocated once the record that brings it
  /// into use has been logged and mark_allocated called.
  virtual Result<PageId> reserve_page(std::optional<PageId> near) = 0;
  virtual void cancel_reservation(PageId page) noexcept = 0;
  virtual void mark_allocated(PageId page) noexcept = 0;
  virtual void mark_free(PageId page) noexcept = 0;
  [[nodiscard]] virtual bool is_allocated(PageId page) const noexcept = 0;

  /// Held from the append of a record that allocates or frees pages to its marks, so that a
  /// checkpoint's copy of the map has the marks of exactly the records before it.
  class MarksGuard {
   public:
    explicit MarksGuard(PageStore& store) noexcept : store_(store) { store_.begin_marks(); }
    MarksGuard(const MarksGuard&) = delete;
    MarksGuard& operator=(const MarksGuard&) = delete;
    ~MarksGuard() { store_.end_marks(); }

   private:
    PageStore& store_;
  };

 private:
  virtual void begin_marks() noexcept {}
  virtual void end_marks() noexcept {}
};

}  // namespace swizzle
