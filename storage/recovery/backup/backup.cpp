#include "storage/recovery/backup/backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/runtime/runtime.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/changed_pages.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/progress.h"
#include "wal/log_copy.h"
#include "wal/timeline.h"

namespace swizzle {
namespace {

constexpr std::size_t kBatchPages = 128;

/// The backup before an incremental one: which pages it has as they are now.
class EarlierBackup {
 public:
  /// 55000 if `directory` is no whole backup, or not of this log up to now.
  static Result<EarlierBackup> open(const BackupParts& parts, FileSystem& files,
                                    const std::filesystem::path& directory) {
    EarlierBackup earlier;
    ASSIGN_OR_RETURN(earlier.label_, read_backup_label(files, directory));
    RETURN_IF_ERROR(require_finished(files, directory));
    ASSIGN_OR_RETURN(const auto control_file, ControlFile::open(files, directory));
    const Control& control = control_file->current();
    const auto refuse = [&directory](std::string_view why) {
      return fail(Error{sqlstate::object_not_in_prerequisite_state,
                        fmt::format("backup \"{}\" {}", directory.native(), why)}
                      .with_hint("Take a full backup."));
    };
    if (earlier.label_.id == 0) return refuse("was made by an older version");
    if (control.database_id != parts.volume.database_id()) return refuse("is of another database");
    // Of another history of the same database: pages that only that one has changed look old here.
    if (control.log_id != parts.log.location().database_id ||
        control.timeline != parts.log.timeline() || earlier.label_.end > parts.log.durable())
      return refuse("is of another history of the database, from before a restore or a promotion");
    earlier.begin_ = control.checkpoint.begin;
    for (const DirtyPage& page : control.checkpoint.dirty) {
      auto [entry, is_new] = earlier.lacks_since_.try_emplace(page.page, page.since);
      entry->second = std::min(entry->second, page.since);
    }
    WrittenLsns ignored;
    ASSIGN_OR_RETURN(const auto given_up,
                     GivenUpPages::open(files, directory, control.database_id, ignored));
    for (const PageId page : given_up->list()) earlier.lacks_since_[page] = Lsn::none;
    return earlier;
  }

  /// Returns true if the backup may lack a change of the page. Its copy has what was before its
  /// checkpoint, except of pages that were dirty then. A damaged page may be repaired by now.
  [[nodiscard]] bool lacks(PageId page, const std::byte* bytes) const {
    if (!check_page(bytes, page)) return true;
    const auto known = lacks_since_.find(page);
    return load<PageHeader>(bytes).lsn >= (known == lacks_since_.end() ? begin_ : known->second);
  }
  [[nodiscard]] const BackupLabel& label() const noexcept { return label_; }
  [[nodiscard]] Lsn begin() const noexcept { return begin_; }

 private:
  BackupLabel label_;
  Lsn begin_ = Lsn::none;
  std::unordered_map<PageId, Lsn> lacks_since_;
};

/// Refuses a backup that would need the log from before a restore on demand, of another id.
Result<> require_own_log(const wal::LogLocation& log, Lsn from) {
  if (!log.older || from >= log.older->resumes_at) return {};
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    "the log from before the restore is still needed: a transaction from before it "
                    "is prepared, or is being rolled back"}
                  .with_hint("Finish prepared transactions (pg_prepared_xacts) first."));
}

/// Takes the copied pages: the data file of a full backup, the changed pages of another.
using KeepPage = std::function<Result<>(PageId page, Bytes bytes)>;

/// Copies the pages in use.
class PageCopier {
 public:
  PageCopier(const BackupParts& parts, const Control& control, const EarlierBackup* earlier,
             KeepPage keep, BackupOutcome& outcome)
      : parts_(parts), earlier_(earlier), keep_(std::move(keep)), outcome_(outcome) {
    for (const DirtyPage& page : control.checkpoint.dirty) in_log_.insert(page.page);
  }

  /// Copies the pages in [first, first + kBatchPages) that are in use.
  Result<> copy_batch(std::uint64_t first, std::uint64_t end,
                      const std::vector<std::uint64_t>& at_begin) {
    reads_.clear();
    for (std::uint64_t page = first; page < std::min(first + kBatchPages, end); ++page) {
      if (!parts_.space.is_allocated(PageId{page})) continue;
      PageRead read;
      read.page = PageId{page};
      read.into = memory_.data() + (page - first) * kPageBytes;
      reads_.push_back(read);
    }
    parts_.volume.read_pages(reads_);
    for (const PageRead& read : reads_) {
      const std::uint64_t page = raw(read.page);
      const bool was_in_use =
          page / 64 < at_begin.size() && ((at_begin[page / 64] >> (page % 64)) & 1U) != 0;
      if (!was_in_use) in_log_.insert(read.page);
      ASSIGN_OR_RETURN(const bool is_there, make_whole(read));
      if (!is_there) {
        std::memset(read.into, 0, kPageBytes);
        ++outcome_.pages_left_to_the_log;
      }
      if (earlier_ != nullptr && (!is_there || !earlier_->lacks(read.page, read.into))) continue;
      RETURN_IF_ERROR(keep_(read.page, {read.into, kPageBytes}));
      ++outcome_.pages;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t kept() const noexcept { return outcome_.pages; }

 private:
  /// Returns true if the page is whole and not older than its last write.
  [[nodiscard]] bool is_as_written(const PageRead& read, const Result<>& outcome) const noexcept {
    return outcome && load<PageHeader>(read.into).lsn >= written(read.page);
  }
  [[nodiscard]] Lsn written(PageId page) const noexcept {
    return parts_.volume.written_lsns().of(page);
  }

  // Makes the copy of a page whole. A page that is written during the read looks damaged for a
  // moment. A page that is not on disk yet, or lacks changes, is rebuilt when the backup is opened.
  // Returns false if the page must not be copied, since it is free or follows from the log.
  Result<bool> make_whole(const PageRead& read) {
    constexpr int kTries = 20;
    constexpr Duration kPause = std::chrono::milliseconds{2};
    auto outcome = parts_.volume.outcome(read);
    const auto is_not_there_yet = [&] {
      const bool is_damaged = !outcome && outcome.error().state() == sqlstate::data_corrupted;
      return is_damaged && in_log_.contains(read.page) && written(read.page) == Lsn::none;
    };
    // The copied log has the page from its image on, so there is no reason to wait for its first
    // write.
    if (is_not_there_yet()) return false;
    for (int i = 0; i < kTries && !is_as_written(read, outcome); ++i) {
      if (!outcome && outcome.error().state() != sqlstate::data_corrupted) break;
      if (!parts_.space.is_allocated(read.page)) return false;
      Runtime::current().sleep_until(Runtime::current().now() + kPause);
      outcome = parts_.volume.read_page(read.page, read.into);
    }
    if (is_as_written(read, outcome)) return true;
    if (!outcome && outcome.error().state() != sqlstate::data_corrupted)
      return fail(std::move(outcome).error());
    if (is_not_there_yet()) return false;
    if (parts_.copy_resident && parts_.copy_resident(read.page, read.into)) return true;
    return rebuild_or_give_up(read, outcome);
  }

  /// Repairs the page as a reader would.
  Result<bool> rebuild_or_give_up(const PageRead& read, const Result<>& outcome) {
    if (parts_.given_up != nullptr) {
      if (const auto known = parts_.given_up->find(read.page)) {
        outcome_.given_up.push_back(known->message());
        return true;
      }
    }
    Error why{sqlstate::data_corrupted,
              outcome ? fmt::format("page {} is older on disk than LSN {}, where it was written",
                                    raw(read.page), raw(written(read.page)))
                      : outcome.error().message()};
    if (parts_.rebuild) {
      auto rebuilt = parts_.rebuild(read.page, outcome ? written(read.page) : Lsn::none, read.into);
      if (rebuilt && load<PageHeader>(read.into).lsn >= written(read.page)) {
        seal_page(read.into);
        return true;
      }
      if (!rebuilt && rebuilt.error().state() != sqlstate::data_corrupted)
        return fail(std::move(rebuilt).error());
      if (!rebuilt) why = std::move(why).with_detail(rebuilt.error().message());
    }
    if (!parts_.space.is_allocated(read.page)) return false;
    // One damaged table must not prevent the backup of all others.
    static_cast<void>(parts_.volume.read_page(read.page, read.into));
    if (parts_.given_up != nullptr) parts_.given_up->give_up(read.page, written(read.page), why);
    outcome_.given_up.push_back(why.message());
    return true;
  }

  const BackupParts& parts_;
  const EarlierBackup* const earlier_;  ///< null: all pages are kept
  const KeepPage keep_;
  BackupOutcome& outcome_;
  std::unordered_set<PageId> in_log_;
  std::vector<PageRead> reads_;
  AlignedBuffer memory_{kBatchPages * kPageBytes};
};

Result<> copy_pages(const BackupParts& parts, const SpaceMap::Snapshot& map, PageCopier& copier,
                    const RecoveryObserver& observer, Lsn begin) {
  // The log has the pages that are allocated after the end of the map.
  const std::uint64_t end = std::min(map.page_count, parts.volume.page_count());
  Progress progress("backup", end * kPageBytes, observer, 1);
  for (std::uint64_t first = SpaceMap::kFirstPage; first < end; first += kBatchPages) {
    RETURN_IF_ERROR(copier.copy_batch(first, end, map.words));
    progress.set_pages(copier.kept());
    progress.reached(first * kPageBytes, begin);
  }
  return {};
}

/// Copies the pages in use into a data file.
Result<> copy_all_pages(const BackupParts& parts, const Control& control,
                        const SpaceMap::Snapshot& map, FileSystem& files,
                        const std::filesystem::path& target, BackupOutcome& outcome,
                        const RecoveryObserver& observer) {
  RETURN_IF_ERROR(Volume::create(files, target, parts.volume.database_id()));
  ASSIGN_OR_RETURN(auto data,
                   files.open(target / Volume::kFileName, OpenMode::read_write, {.direct = true}));
  PageCopier copier(
      parts, control, nullptr,
      [&data](PageId page, Bytes bytes) { return data->write_at(raw(page) * kPageBytes, bytes); },
      outcome);
  RETURN_IF_ERROR(copy_pages(parts, map, copier, observer, control.checkpoint.begin));
  RETURN_IF_ERROR(data->truncate(map.page_count * kPageBytes));
  return data->sync();
}

/// Copies the pages in use that the earlier backup may not have as they are.
Result<> copy_changed_pages(const BackupParts& parts, const Control& control,
                            const SpaceMap::Snapshot& map, const EarlierBackup& earlier,
                            FileSystem& files, const std::filesystem::path& target,
                            BackupOutcome& outcome, const RecoveryObserver& observer) {
  ASSIGN_OR_RETURN(ChangedPagesWriter changed, ChangedPagesWriter::create(files, target));
  PageCopier copier(
      parts, control, &earlier,
      [&changed](PageId page, Bytes bytes) { return changed.add(page, bytes); }, outcome);
  RETURN_IF_ERROR(copy_pages(parts, map, copier, observer, control.checkpoint.begin));
  return changed.finish(parts.volume.database_id(), map.page_count);
}

/// Copies the history of timelines, which the copy needs if it is to be promoted.
Result<> copy_history(const wal::LogLocation& from, std::uint32_t timeline, FileSystem& files,
                      const std::filesystem::path& log) {
  auto history = wal::TimelineHistory::read(*from.files, from.directory, timeline);
  // A restored database may have none.
  if (!history && history.error().state() == sqlstate::undefined_file) return {};
  if (!history) return fail(std::move(history).error());
  return history->write(files, log);
}

}  // namespace

Result<BackupOutcome> back_up(const BackupParts& parts, FileSystem& files,
                              const std::filesystem::path& target, const std::string& log_name,
                              const RecoveryObserver& observer,
                              const std::optional<std::filesystem::path>& since) {
  std::optional<EarlierBackup> earlier;
  if (since) {
    ASSIGN_OR_RETURN(earlier, EarlierBackup::open(parts, files, *since));
  }
  // So that an incremental backup needs little of the log, and none of a log from before a restore.
  const bool needs_clean_pages = earlier || parts.log.location().older;
  if (needs_clean_pages && parts.clean) RETURN_IF_ERROR(parts.clean());
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(mark_unfinished(files, target));
  RETURN_IF_ERROR(files.create_directory(target / log_name));
  const Checkpointer::Retention keep_log(parts.checkpointer);
  Control control;
  SpaceMap::Snapshot map;
  {
    const Progress waiting("checkpoint", 0, observer);
    RETURN_IF_ERROR(parts.checkpointer.take(
        Control::Shutdown::none, [&](const Control& taken, const SpaceMap::Snapshot& snapshot) {
          control = taken;
          map = snapshot;
        }));
  }
  RETURN_IF_ERROR(require_own_log(parts.log.location(), control.checkpoint.keep_from));

  BackupOutcome outcome;
  outcome.begin = control.checkpoint.begin;
  RETURN_IF_ERROR(
      earlier ? copy_changed_pages(parts, control, map, *earlier, files, target, outcome, observer)
              : copy_all_pages(parts, control, map, files, target, outcome, observer));
  RETURN_IF_ERROR(SpaceMap::create(files, target, parts.volume.database_id(), map));
  if (parts.given_up != nullptr) RETURN_IF_ERROR(parts.given_up->copy_to(files, target));
  // Redo shows the leaves that are written later.
  if (parts.untidy != nullptr)
    RETURN_IF_ERROR(parts.untidy->copy_to(files, target, parts.volume.database_id()));

  parts.log.flush_to(parts.log.tail());
  outcome.end = parts.log.durable();
  {
    const Lsn from = control.checkpoint.keep_from;
    const Progress copying("log", raw(outcome.end) - raw(from), observer);
    RETURN_IF_ERROR(
        wal::copy_log(parts.log.location(), from, outcome.end, files, target / log_name,
                      earlier ? wal::CopiedSegments::content_only : wal::CopiedSegments::whole));
    RETURN_IF_ERROR(copy_history(parts.log.location(), control.timeline, files, target / log_name));
  }
  BackupLabel label{.end = outcome.end, .id = Runtime::current().random() | 1U};
  if (earlier) {
    label.since_id = earlier->label().id;
    label.since_begin = earlier->begin();
  }
  RETURN_IF_ERROR(write_backup_label(files, target, label));
  control.shutdown = Control::Shutdown::backup;
  RETURN_IF_ERROR(ControlFile::create(files, target, control));
  RETURN_IF_ERROR(files.sync_directory(target.parent_path()));
  RETURN_IF_ERROR(mark_finished(files, target));
  return outcome;
}

}  // namespace swizzle
