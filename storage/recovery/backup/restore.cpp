#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/changed_pages.h"
#include "storage/recovery/backup/unfinished.h"
#include "wal/log_copy.h"

namespace swizzle {
namespace {

/// Called with the offset and the bytes of each portion that was copied.
using Look = std::function<void(std::uint64_t at, Bytes portion)>;

Result<> copy_file(FileSystem& files, const std::filesystem::path& from,
                   const std::filesystem::path& to, const Look& look = {}) {
  constexpr std::size_t kPortion = std::size_t{1} << 20U;
  ASSIGN_OR_RETURN(auto source, files.open(from, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(auto copy, files.open(to, OpenMode::create_new, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, source->size());
  AlignedBuffer buffer(kPortion);
  for (std::uint64_t at = 0; at < size; at += kPortion) {
    const auto portion = static_cast<std::size_t>(std::min<std::uint64_t>(kPortion, size - at));
    RETURN_IF_ERROR(source->read_at(at, buffer.bytes(0, portion)));
    RETURN_IF_ERROR(copy->write_at(at, buffer.bytes(0, portion)));
    if (look) look(at, buffer.bytes(0, portion));
  }
  return copy->sync();
}

using Pages = std::set<PageId>;

void note_if_damaged(Pages& doubted, PageId page, const std::byte* bytes) {
  if (check_page(bytes, page))
    doubted.erase(page);
  else
    doubted.insert(page);
}

/// Copies the data file. Adds the pages that are not whole to `doubted`: usually redo restores
/// them, or they are not in use.
Result<> copy_data_file(FileSystem& files, const std::filesystem::path& from,
                        const std::filesystem::path& to, Pages& doubted) {
  const auto look = [&doubted](std::uint64_t at, Bytes portion) {
    for (std::size_t i = 0; i + kPageBytes <= portion.size(); i += kPageBytes) {
      const PageId page{(at + i) / kPageBytes};
      if (raw(page) >= SpaceMap::kFirstPage) note_if_damaged(doubted, page, portion.data() + i);
    }
  };
  return copy_file(files, from, to, look);
}

/// Writes the pages of an incremental backup over those of the backups before it.
Result<> copy_changed_pages(ChangedPagesReader& changed, File& data, Pages& doubted) {
  while (true) {
    ASSIGN_OR_RETURN(const ChangedPagesReader::Batch batch, changed.next());
    if (batch.pages.empty()) break;
    for (std::size_t i = 0; i < batch.pages.size(); ++i) {
      const PageId page = batch.pages[i];
      const std::byte* const bytes = batch.images + i * kPageBytes;
      note_if_damaged(doubted, page, bytes);
      RETURN_IF_ERROR(data.write_at(raw(page) * kPageBytes, {bytes, kPageBytes}));
    }
  }
  return data.truncate(changed.page_count() * kPageBytes);
}

/// A full backup and the incremental ones after it.
class Chain {
 public:
  /// 55000 if one of them is no whole backup, or does not belong to the one before it; XX001 if its
  /// list of pages is damaged.
  static Result<Chain> open(FileSystem& files, std::span<const std::filesystem::path> directories) {
    Chain chain;
    for (const auto& directory : directories) RETURN_IF_ERROR(chain.add(files, directory));
    return chain;
  }
  /// Content of the data file, and the files beside it.
  Result<> copy_files(FileSystem& files, const std::filesystem::path& target, Pages& doubted) {
    const auto data_file = target / Volume::kFileName;
    RETURN_IF_ERROR(copy_data_file(files, full_ / Volume::kFileName, data_file, doubted));
    RETURN_IF_ERROR(
        copy_file(files, full_ / DoubleWrite::kFileName, target / DoubleWrite::kFileName));
    if (!changed_.empty()) {
      ASSIGN_OR_RETURN(const auto data, files.open(data_file, OpenMode::read_write, {}));
      for (ChangedPagesReader& changed : changed_)
        RETURN_IF_ERROR(copy_changed_pages(changed, *data, doubted));
      RETURN_IF_ERROR(data->sync());
    }
    ASSIGN_OR_RETURN(const auto names, files.list(newest_));
    for (const std::string& name : names) {
      if (name == GivenUpPages::kFileName ||
          std::ranges::find(SpaceMap::kFileNames, name) != std::end(SpaceMap::kFileNames))
        RETURN_IF_ERROR(copy_file(files, newest_ / name, target / name));
    }
    return {};
  }
  /// Of the newest backup.
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return newest_; }
  [[nodiscard]] const Control& control() const noexcept { return control_; }
  [[nodiscard]] Lsn end() const noexcept { return label_.end; }

 private:
  Result<> add(FileSystem& files, const std::filesystem::path& directory) {
    ASSIGN_OR_RETURN(const BackupLabel label, read_backup_label(files, directory));
    ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, directory));
    RETURN_IF_ERROR(require_finished(files, directory));
    const Control& current = control->current();
    if (full_.empty()) {
      RETURN_IF_ERROR(require_all_pages(files, directory));
      full_ = directory;
    } else {
      RETURN_IF_ERROR(require_follows(directory, label, current));
      ASSIGN_OR_RETURN(auto changed,
                       ChangedPagesReader::open(files, directory, current.database_id));
      changed_.push_back(std::move(changed));
    }
    newest_ = directory;
    label_ = label;
    control_ = current;
    return {};
  }
  [[nodiscard]] Result<> require_follows(const std::filesystem::path& directory,
                                         const BackupLabel& label, const Control& control) const {
    const auto refuse = [&](std::string_view why) {
      return fail(Error{sqlstate::object_not_in_prerequisite_state,
                        fmt::format("\"{}\" {}", directory.native(), why)}
                      .with_hint("Name a full backup, and each incremental one after the backup "
                                 "since which it was taken."));
    };
    if (!label.is_incremental()) return refuse("is a full backup, and can only be the first");
    if (label.since_id != label_.id || label.since_begin != control_.checkpoint.begin ||
        control.database_id != control_.database_id || control.log_id != control_.log_id)
      return refuse(fmt::format("was not taken since the backup \"{}\"", newest_.native()));
    return {};
  }

  std::filesystem::path full_;
  std::filesystem::path newest_;
  BackupLabel label_;
  Control control_;
  std::vector<ChangedPagesReader> changed_;
};

Result<> require_no_gap(FileSystem& files, const wal::RestoreSegment& archive,
                        std::uint64_t segment_bytes, Lsn end,
                        const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto later,
                   wal::find_segment_behind_gap(archive, segment_bytes, end, files,
                                                directory / "looked-for.tmp"));
  if (!later) return {};
  return fail(
      Error{sqlstate::object_not_in_prerequisite_state,
            fmt::format("the log ends at LSN {}, where the archive lacks a segment: it has "
                        "the later \"{}\"",
                        raw(end), *later)}
          .with_hint(
              "Put the missing segment into the archive. To restore without what "
              "was committed later, stop at that LSN: --target-lsn with --target-exclusive."));
}

Result<> remove_with_content(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(directory / name));
  return files.remove(directory);
}

/// Refuses a time before the backup: commits between the two are in its pages, and not in its log.
Result<> require_after(const Checkpoint& checkpoint, const RecoveryTarget& target) {
  if (!target.time_us) return {};
  const bool is_after = target.bound == RecoveryTarget::Bound::inclusive
                            ? *target.time_us >= checkpoint.taken_at_us
                            : *target.time_us > checkpoint.taken_at_us;
  if (is_after) return {};
  return fail(
      sqlstate::object_not_in_prerequisite_state,
      fmt::format("the recovery target, {}, is before the backup, which began at {}",
                  describe_target(target), describe_target({.time_us = checkpoint.taken_at_us})));
}

/// The log of backup and archive together, in a directory of its own, and where to cut it.
struct WholeLog {
  wal::LogLocation location;
  RecoveryStop stop;
  Lsn end;
};

/// Copies the backup's log into `directory`, which is empty, fetches the archived segments after
/// it, and searches both for the target.
Result<WholeLog> find_target(FileSystem& files, const std::filesystem::path& backup_log,
                             const Checkpoint& checkpoint, Lsn backup_end,
                             const std::filesystem::path& directory,
                             const wal::RestoreSegment& archive, const RecoveryTarget& target) {
  ASSIGN_OR_RETURN(const wal::LogLocation kept, wal::find_log(files, backup_log));
  RETURN_IF_ERROR(wal::copy_log(kept, checkpoint.keep_from, backup_end, files, directory));
  wal::LogOptions options;
  options.directory = directory;
  options.database_id = kept.database_id;
  options.segment_bytes = kept.segment_bytes;
  options.restore = archive;
  ASSIGN_OR_RETURN(auto log, wal::Log::open(files, options, checkpoint.begin));
  WholeLog whole{log->location(), {}, log->begin()};
  auto stop = find_stop(log->reader(), checkpoint.begin, backup_end, target);
  log->close();
  if (!stop) return fail(std::move(stop).error());
  if (archive && (!has_target(target) || !*stop))
    RETURN_IF_ERROR(require_no_gap(files, archive, kept.segment_bytes, whole.end, directory));
  if (!*stop) {
    return fail(
        Error{sqlstate::object_not_in_prerequisite_state,
              fmt::format("backup and archive end at LSN {}, before the recovery target, {}",
                          raw(whole.end), describe_target(target))}
            .with_hint("Without a target all of it is restored."));
  }
  whole.stop = std::move(**stop);
  return whole;
}

/// Removes what a restore has begun that cannot reach its target, so that nothing is left of it.
/// The error that ends the restore tells more than one of the removal.
void remove_unfinished(FileSystem& files, const std::filesystem::path& target,
                       const std::filesystem::path& whole) {
  static_cast<void>(remove_with_content(files, whole));
  static_cast<void>(remove_with_content(files, target));
}

}  // namespace

Result<RestoredLog> restore(FileSystem& files, std::span<const std::filesystem::path> backups,
                            const std::filesystem::path& target, const std::string& log_name,
                            const wal::RestoreSegment& archive, const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(Chain chain, Chain::open(files, backups));
  const Checkpoint& checkpoint = chain.control().checkpoint;
  RETURN_IF_ERROR(require_after(checkpoint, stop));
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(mark_unfinished(files, target));
  // Pages are copied only if the target can be reached.
  const auto whole = target / (log_name + "-whole");
  RETURN_IF_ERROR(files.create_directory(whole));
  auto log = find_target(files, chain.directory() / log_name, checkpoint, chain.end(), whole,
                         archive, stop);
  if (!log) {
    remove_unfinished(files, target, whole);
    return fail(std::move(log).error());
  }
  RestoredLog outcome{.stop = log->stop, .known_end = log->end};
  RETURN_IF_ERROR(files.create_directory(target / log_name));
  RETURN_IF_ERROR(
      wal::copy_log(log->location, checkpoint.keep_from, log->stop.end, files, target / log_name));
  RETURN_IF_ERROR(remove_with_content(files, whole));

  Pages doubted;
  RETURN_IF_ERROR(chain.copy_files(files, target, doubted));
  // Pages that are whole but known to be old.
  WrittenLsns needed;
  ASSIGN_OR_RETURN(const auto given_up,
                   GivenUpPages::open(files, target, chain.control().database_id, needed));
  for (const PageId page : given_up->list()) doubted.insert(page);
  outcome.doubted.assign(doubted.begin(), doubted.end());

  // Written last: without it the directory cannot be opened.
  Control as_database = chain.control();
  as_database.shutdown = Control::Shutdown::none;
  RETURN_IF_ERROR(ControlFile::create(files, target, as_database));
  RETURN_IF_ERROR(files.sync_directory(target.parent_path()));
  RETURN_IF_ERROR(mark_finished(files, target));
  return outcome;
}

}  // namespace swizzle
