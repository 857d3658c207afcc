#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/io/file.h"
#include "base/runtime/park_mutex.h"
#include "storage/latch/guards.h"
#include "storage/latch/spin_latch.h"
#include "storage/space/volume.h"

namespace swizzle {

/// Bitmap of the volume's pages in use, in memory. Changes only with the log record that allocates
/// or frees a page, so its last durable copy plus the log is exact (rule S1). A reservation is in
/// memory only and is no allocation (rule S2): a crash forgets it. Thread-safe.
class SpaceMap {
 public:
  /// Page 0 is the volume's header.
  static constexpr std::uint64_t kFirstPage = 1;
  static constexpr const char* kFileNames[] = {"space-0", "space-1"};

  /// A copy for a checkpoint.
  struct Snapshot {
    Lsn begin = Lsn::none;
    std::uint64_t page_count = 0;
    std::vector<std::uint64_t> words;
  };

  /// Writes the two copies of an empty map, durable. `begin` is the log's begin.
  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         std::uint64_t database_id, Lsn begin = Lsn::none) {
    return create(files, directory, database_id,
                  Snapshot{.begin = begin, .page_count = 0, .words = {}});
  }
  /// The same with the contents of `map`, for backups.
  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         std::uint64_t database_id, const Snapshot& map);
  /// Loads the copy that replay from `replay_from` (the begin LSN of the checkpoint that recovery
  /// starts from) completes: one with that stamp, else the next younger that is not younger than
  /// `not_after`, the log's end. XX001 when there is none, and when the volume ends before a page
  /// that is in use.
  static Result<std::unique_ptr<SpaceMap>> load(FileSystem& files,
                                                const std::filesystem::path& directory,
                                                Volume& volume, Lsn replay_from,
                                                Lsn not_after = Lsn::max);
  /// True if a copy on disk may serve a replay from `replay_from`: otherwise load() would fail.
  static Result<bool> has_copy_for(FileSystem& files, const std::filesystem::path& directory,
                                   std::uint64_t database_id, Lsn replay_from);
  SpaceMap(const SpaceMap&) = delete;
  SpaceMap& operator=(const SpaceMap&) = delete;

  /// Reserves a free page, close after `near` if there is one. Grows the file when none is left:
  /// 53100 if that fails. Parks; no latch held.
  Result<PageId> reserve(std::optional<PageId> near);
  /// The same without growing or parking, so that it may be called under latches.
  [[nodiscard]] std::optional<PageId> try_reserve(std::optional<PageId> near) noexcept;
  /// Gives up a reservation.
  void cancel(PageId page) noexcept;

  /// Held by the caller between [append the record] and [mark], so that a checkpoint's copy of the
  /// map has exactly the marks of the records before its begin LSN. Counts as a latch.
  class ApplyGuard {
   public:
    explicit ApplyGuard(SpaceMap& map) noexcept : map_(map) { map_.begin_marks(); }
    ApplyGuard(const ApplyGuard&) = delete;
    ApplyGuard& operator=(const ApplyGuard&) = delete;
    ~ApplyGuard() { map_.end_marks(); }

   private:
    SpaceMap& map_;
  };
  /// The same in two calls.
  void begin_marks() noexcept { apply_latch_.lock_shared(); }
  void end_marks() noexcept { apply_latch_.unlock_shared(); }

  /// Marks the page as used. Pre: its record is in the log. Idempotent, for redo.
  void mark_allocated(PageId page) noexcept;
  /// Marks the page as free; it may be reserved again at once. Idempotent, for redo.
  void mark_free(PageId page) noexcept;

  /// Grows the file to hold every page in use: after redo of a log that goes beyond the file, as
  /// that of an online backup may.
  Result<> fit_file();

  /// Calls `choose_begin`, which returns the checkpoint's begin LSN, while no record that allocates
  /// or frees a page is between its append and its mark; copies the map at that moment.
  template <class ChooseBegin>
  Snapshot snapshot(ChooseBegin&& choose_begin) {
    Copying copying;
    while (true) {
      // Allocate the copy before others have to wait.
      copying.make_room(covered_groups());
      const ExclusiveGuard no_marks(apply_latch_);
      if (!begin_copy(copying)) continue;
      copying.map.begin = choose_begin();
      break;
    }
    finish_copy(copying);
    return std::move(copying.map);
  }
  /// Writes the snapshot over the older of the two copies; durable on return. Pre: the log is
  /// durable up to `snapshot.begin`. One caller at a time.
  Result<> persist(const Snapshot& snapshot);
  /// Tells that the checkpoint of the last persisted snapshot is complete (the control file names
  /// it): no recovery needs pages that were free in it.
  void checkpoint_done() noexcept;
  /// Truncates free pages at the end of the file, if they were free at the last two complete
  /// checkpoints too, since a recovery may start from either. Returns how many; none before two
  /// checkpoints are complete.
  Result<std::uint64_t> shrink();

  [[nodiscard]] bool is_allocated(PageId page) const noexcept;
  [[nodiscard]] std::uint64_t allocated_pages() const noexcept {
    return allocated_count_.load(std::memory_order_relaxed);
  }
  /// Pages of the file, the header's included.
  [[nodiscard]] std::uint64_t page_count() const noexcept { return volume_.page_count(); }

 private:
  // Free pages are searched by groups, so that a full one costs one look.
  static constexpr std::uint64_t kGroupWords = 512;
  static constexpr std::uint64_t kGroupPages = kGroupWords * 64;

  explicit SpaceMap(Volume& volume) noexcept : volume_(volume) {}
  /// A consistent copy of the map. It is made group by group while other threads change the map; a
  /// change of a group that is not copied yet copies it first.
  struct Copying {
    Snapshot map;
    std::vector<bool> is_copied;  ///< by group

    void make_room(std::uint64_t groups);
  };
  [[nodiscard]] std::uint64_t covered_groups() const noexcept;
  /// Returns false if the map has grown and there is no room for it. Pre: no other thread marks
  /// pages.
  bool begin_copy(Copying& copying) noexcept;
  void finish_copy(Copying& copying) noexcept;
  void copy_group(std::uint64_t group) noexcept;
  void about_to_change(std::uint64_t page) noexcept;
  void adopt(const std::vector<std::uint64_t>& words, std::uint64_t generation);
  Result<> grow();
  /// Allocates the copies' blocks before the data file has so many pages. A checkpoint on a full
  /// disk, which may be the one that frees space, then needs no more. Pre: size_mutex_ is held, or
  /// the object is private.
  Result<> keep_room_for_copies(std::uint64_t pages);
  void cover(std::uint64_t pages);
  void take(std::uint64_t page) noexcept;
  void release(std::uint64_t page) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> find_free(std::uint64_t from) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> find_free_in_group(std::uint64_t group,
                                                                std::uint64_t from) const noexcept;
  [[nodiscard]] std::uint64_t end_of_taken() const noexcept;

  Volume& volume_;
  std::unique_ptr<File> copies_[2];
  std::uint64_t copy_bytes_ = 0;  ///< for which both have blocks
  std::uint64_t generation_ = 0;  ///< of the younger copy; it is in copies_[generation_ % 2]

  HybridLatch apply_latch_;
  ParkMutex size_mutex_;  ///< held while the file changes its size; before mutex_

  mutable SpinLatch mutex_;  ///< protects the words below; a leaf
  std::vector<std::uint64_t> allocated_;
  std::vector<std::uint64_t> taken_;  ///< allocated or reserved
  std::vector<std::uint32_t> group_free_;
  Copying* copying_ = nullptr;
  std::uint64_t end_ = 0;  ///< pages at and after it may not be taken
  std::uint64_t cursor_ = kFirstPage;
  std::uint64_t persisted_end_ = 0;  ///< after it nothing was allocated in the last snapshot
  std::uint64_t checkpointed_end_ = UINT64_MAX;  ///< the same of the last complete checkpoint
  std::uint64_t shrink_limit_ = UINT64_MAX;      ///< and of the one before
  std::atomic<std::uint64_t> allocated_count_{0};
};

}  // namespace swizzle
