#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "storage/buffer/page_store.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/lacking_pages.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"

namespace swizzle {

/// The volume and the space map as the pool's page store.
class DataFile final : public PageStore {
 public:
  /// Rebuilds a page in the given memory: one that fails its checksum or, with `newest`, an older
  /// one, which is redone to that LSN (PageRepair).
  using Rebuild = std::function<Result<>(PageId page, Lsn newest, std::byte* into)>;

  /// Returns the present end of the log.
  using LogEnd = std::function<Lsn()>;

  /// `given_up` may be null: then each read of a page that cannot be rebuilt tries again. `lacking`
  /// may be null: then every page on disk has all of its changes.
  DataFile(Volume& volume, SpaceMap& map, Rebuild rebuild = {}, LogEnd log_end = {},
           GivenUpPages* given_up = nullptr, LackingPages* lacking = nullptr) noexcept
      : volume_(volume),
        map_(map),
        rebuild_(std::move(rebuild)),
        log_end_(std::move(log_end)),
        given_up_(given_up),
        lacking_(lacking) {}

  /// Rebuilds and writes back a page that fails its checksum, or is older than its last write. If
  /// that is impossible, the error tells the reason, and the page is given up, so that the log is
  /// not searched for it again; other pages are not affected. Pre: no write of the page is under
  /// way. A page with an LSN after the log's end, of which the log has no records, is XX001: its
  /// next record would be taken for an old one. A page that lacks changes is redone, and not
  /// written.
  Result<Lsn> read_page(PageId page, std::byte* into) override;
  void entered(PageId page) noexcept override {
    if (lacking_ != nullptr) lacking_->erase(page);
  }
  [[nodiscard]] bool lacks_changes(PageId page) const noexcept override {
    return lacking_ != nullptr && lacking_->contains(page);
  }
  void start_reads(std::span<PageRead* const> reads) noexcept override {
    volume_.start_reads(reads);
  }
  /// Pages that failed their checksums, and when the last of them did (microseconds since 1970).
  [[nodiscard]] std::uint64_t checksum_failures() const noexcept {
    return checksum_failures_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t last_checksum_failure_us() const noexcept {
    return last_checksum_failure_us_.load(std::memory_order_relaxed);
  }
  /// A prefetch neither rebuilds a damaged page nor redoes one that lacks changes.
  [[nodiscard]] bool has_read(const PageRead& read) const noexcept override {
    return !lacks_changes(read.page) && volume_.outcome(read).has_value() &&
           !is_older_than_written(read.page, read.into) &&
           (!log_end_ || require_known(read.page, read.into).has_value());
  }
  [[nodiscard]] bool is_given_up(PageId page) const noexcept override {
    return given_up_ != nullptr && given_up_->contains(page);
  }
  bool renew_doubted(PageId page, Lsn at, std::byte* into) override;
  [[nodiscard]] std::optional<Error> given_up(PageId page) const override {
    return given_up_ == nullptr ? std::nullopt : given_up_->find(page);
  }
  Result<PageId> reserve_page(std::optional<PageId> near) override { return map_.reserve(near); }
  void cancel_reservation(PageId page) noexcept override { map_.cancel(page); }
  void mark_allocated(PageId page) noexcept override { map_.mark_allocated(page); }
  void mark_free(PageId page) noexcept override { map_.mark_free(page); }
  [[nodiscard]] bool is_allocated(PageId page) const noexcept override {
    return map_.is_allocated(page);
  }

 private:
  Result<> read_whole(PageId page, std::byte* into);
  [[nodiscard]] bool is_older_than_written(PageId page, const std::byte* bytes) const noexcept;
  [[nodiscard]] Result<> rebuild(PageId page, Lsn newest, std::byte* into, Error&& why);
  std::unexpected<Error> give_up(PageId page, Error&& why);
  [[nodiscard]] Result<> require_known(PageId page, const std::byte* bytes) const;
  void begin_marks() noexcept override { map_.begin_marks(); }
  void end_marks() noexcept override { map_.end_marks(); }

  Volume& volume_;
  SpaceMap& map_;
  const Rebuild rebuild_;
  const LogEnd log_end_;
  GivenUpPages* const given_up_;
  LackingPages* const lacking_;
  std::mutex doubted_mutex_;
  /// Pages for which the log had nothing newer, so that it is not read again for each access.
  /// Bounded; emptied when full.
  std::unordered_map<PageId, Lsn> doubted_;
  std::atomic<std::uint64_t> checksum_failures_{0};
  std::atomic<std::int64_t> last_checksum_failure_us_{0};
};

}  // namespace swizzle
