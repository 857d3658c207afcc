#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/memory/aligned_buffer.h"
#include "storage/space/given_up_pages.h"
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
    /// Set while the page can neither be used nor rebuilt. Only a record that has all of it helps.
    PageGivenUp* given_up = nullptr;
    std::uint64_t window = 0;  ///< the last that used it
  };
  struct Counters {
    std::uint64_t read = 0;
    std::uint64_t blank = 0;  ///< begun anew, since the log has them whole
    std::uint64_t written = 0;
    std::uint64_t repaired = 0;
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
  /// Brings the page to `newest`, or to its newest state where that is none; otherwise gives it up:
  /// it stays on disk as it is. Any task, each for its own pages. Other errors than XX001 are
  /// passed on.
  Result<> rebuild_or_give_up(Page& page, Lsn newest, Error&& why);
  void give_up(Page& page, Error&& why);
  /// A record that has all of the page makes up for everything. Any task, as above.
  void begin_anew(Page& page) noexcept;
  /// The pages that are given up now. Pre: no task is at work.
  [[nodiscard]] std::vector<PageGivenUp> take_given_up();
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
  /// Outlives the page's time in memory, so that no later window starts from its old copy.
  std::unordered_map<PageId, PageGivenUp> given_up_;  ///< changes under mutex_
  std::mutex mutex_;
  std::size_t hand_ = 0;
  std::uint64_t window_ = 0;
  Counters counters_;
};

}  // namespace swizzle
