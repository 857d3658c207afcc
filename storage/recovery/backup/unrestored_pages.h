#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/io/file.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/restore_state.h"
#include "storage/space/absent_pages.h"
#include "storage/space/space_map.h"

namespace swizzle {

/// The pages that a database takes from its backups when they are first read: of a restore on
/// demand that is not complete.
///
/// The map of absent pages is saved at each checkpoint, after the dirty pages were listed (rule
/// R20). So it may be older than the data file, never newer.
class UnrestoredPages final : public AbsentPages {
 public:
  /// Name of the file with the map of absent pages. Without it all pages of the backups may be
  /// absent.
  static constexpr const char* kFileName = "unrestored-pages";

  /// Opens the backups. Null if the directory needs none. Errors name the backup: 55000 if one has
  /// been replaced, or is no whole backup any more.
  static Result<std::unique_ptr<UnrestoredPages>> open(FileSystem& files,
                                                       const std::filesystem::path& directory,
                                                       std::uint64_t database_id);
  /// Determines which absent pages are lacking. Pre: no page has been read.
  void find_lacking(const SpaceMap& map);

  [[nodiscard]] bool is_absent(PageId page) const noexcept override {
    return !is_complete() && absent_.has(page);
  }
  [[nodiscard]] bool is_lacking(PageId page) const noexcept override { return lacking_.has(page); }
  Result<> read(PageId page, std::byte* into) override;
  void entered(PageId page) noexcept override { lacking_.remove(page); }
  void written(std::span<const PageImage> images) noexcept override;

  /// Returns the first lacking page at or after `from`.
  [[nodiscard]] std::optional<PageId> next_lacking(PageId from) const noexcept {
    return lacking_.next(from);
  }
  [[nodiscard]] std::uint64_t lacking_count() const noexcept { return lacking_.count(); }
  /// Returns the number of pages that were lacking at the start.
  [[nodiscard]] std::uint64_t lacking_at_start() const noexcept { return lacking_at_start_; }
  [[nodiscard]] bool is_complete() const noexcept {
    return is_complete_.load(std::memory_order_acquire);
  }

  /// Saves the map of absent pages if it has changed. Durable on return, unless the disk is full:
  /// an older map serves as well.
  Result<> persist();
  /// Notes, durably, that the backups are not needed any more. Pre: no page is lacking, and the
  /// pages that were dirty then have been written since.
  Result<> complete();

 private:
  /// A set of pages. Thread-safe.
  class Map {
   public:
    void reset(std::uint64_t pages, bool has_all);
    [[nodiscard]] bool has(PageId page) const noexcept;
    void add(PageId page) noexcept;
    /// Returns true if the page was in the set.
    bool remove(PageId page) noexcept;
    [[nodiscard]] std::optional<PageId> next(PageId from) const noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept {
      // Acquire: a thread that finds none left sees that their frames are dirty.
      return count_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t pages() const noexcept { return pages_; }
    [[nodiscard]] std::vector<std::uint64_t> words() const;
    void load(std::span<const std::uint64_t> words);

   private:
    [[nodiscard]] std::size_t word_count() const noexcept { return (pages_ + 63) / 64; }
    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
    std::uint64_t pages_ = 0;
    std::atomic<std::uint64_t> count_{0};
  };

  UnrestoredPages(FileSystem& files, std::filesystem::path directory, std::uint64_t database_id,
                  BackupChain chain, RestoreState state);
  Result<> read_map();

  FileSystem& files_;
  const std::filesystem::path directory_;
  const std::uint64_t database_id_;
  const BackupChain chain_;
  RestoreState state_;
  Map absent_;
  Map lacking_;
  std::uint64_t lacking_at_start_ = 0;
  std::atomic<bool> is_changed_{false};
  std::atomic<bool> is_complete_{false};
};

}  // namespace swizzle
