#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/memory/aligned_buffer.h"
#include "storage/space/volume.h"

namespace swizzle {

/// The pages that redo has in memory: as many as fit, the others written and dropped. Not
/// thread-safe, except that different tasks may work on different pages.
class RedoPages {
 public:
  struct Page {
    PageId id = PageId::none;
    std::byte* bytes = nullptr;
    bool is_dirty = false;
    /// True if it can be neither read nor rebuilt: it stays as it is, and later reads of it fail.
    /// Only a record that has all of it helps.
    bool is_given_up = false;
    std::uint64_t window = 0;  ///< the last that used it
  };
  struct Counters {
    std::uint64_t read = 0;
    std::uint64_t blank = 0;  ///< begun anew, since the log has them whole
    std::uint64_t written = 0;
    std::uint64_t repaired = 0;
    std::uint64_t given_up = 0;
  };
  using Repair = std::function<Result<>(PageId page, Lsn newest, std::byte* into)>;

  RedoPages(Volume& volume, std::uint64_t memory_bytes, Repair repair);

  /// Number of pages that one window may use.
  [[nodiscard]] std::size_t window_pages() const noexcept { return pages_.size() / 2; }

  /// A page that a window needs: it is read if its old content matters, else it gets a blank frame.
  struct Need {
    PageId page;
    enum class Content : std::uint8_t { read, blank } content;
  };
  /// Post: find() has every one of them until the next call. Reads the missing pages together.
  Result<> gather(std::span<const Need> needs);
  [[nodiscard]] Page& find(PageId page) { return *by_id_.at(page); }
  /// Writes every changed page; durable on return.
  Result<> write_all();
  [[nodiscard]] const Repair& repair() const noexcept { return repair_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  Result<> make_room(std::size_t wanted);
  Result<> write(std::span<Page* const> dirty);
  Result<> read(std::span<Page* const> absent);

  Volume& volume_;
  const Repair repair_;
  AlignedBuffer memory_;
  std::vector<Page> pages_;
  std::vector<Page*> unused_;
  std::unordered_map<PageId, Page*> by_id_;
  std::size_t hand_ = 0;
  std::uint64_t window_ = 0;
  Counters counters_;
};

}  // namespace swizzle
