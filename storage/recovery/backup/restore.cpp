#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/backup_end.h"
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

bool is_database_file(std::string_view name) noexcept {
  return name == DoubleWrite::kFileName || name == GivenUpPages::kFileName ||
         std::ranges::find(SpaceMap::kFileNames, name) != std::end(SpaceMap::kFileNames);
}

/// Copies the data file. Returns the pages that are not whole: usually redo restores them, or they
/// are not in use.
Result<std::vector<PageId>> copy_data_file(FileSystem& files, const std::filesystem::path& from,
                                           const std::filesystem::path& to) {
  std::vector<PageId> doubted;
  const auto look = [&doubted](std::uint64_t at, Bytes portion) {
    for (std::size_t i = 0; i + kPageBytes <= portion.size(); i += kPageBytes) {
      const PageId page{(at + i) / kPageBytes};
      if (raw(page) >= SpaceMap::kFirstPage && !check_page(portion.data() + i, page))
        doubted.push_back(page);
    }
  };
  RETURN_IF_ERROR(copy_file(files, from, to, look));
  return doubted;
}

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

Result<RestoredLog> restore(FileSystem& files, const std::filesystem::path& backup,
                            const std::filesystem::path& target, const std::string& log_name,
                            const wal::RestoreSegment& archive, const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(const Lsn backup_end, read_backup_end(files, backup));
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, backup));
  RETURN_IF_ERROR(require_finished(files, backup));
  const Checkpoint& checkpoint = control->current().checkpoint;
  RETURN_IF_ERROR(require_after(checkpoint, stop));
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(mark_unfinished(files, target));
  // Pages are copied only if the target can be reached.
  const auto whole = target / (log_name + "-whole");
  RETURN_IF_ERROR(files.create_directory(whole));
  auto log = find_target(files, backup / log_name, checkpoint, backup_end, whole, archive, stop);
  if (!log) {
    remove_unfinished(files, target, whole);
    return fail(std::move(log).error());
  }
  RestoredLog outcome{.stop = log->stop, .known_end = log->end};
  RETURN_IF_ERROR(files.create_directory(target / log_name));
  RETURN_IF_ERROR(
      wal::copy_log(log->location, checkpoint.keep_from, log->stop.end, files, target / log_name));
  RETURN_IF_ERROR(remove_with_content(files, whole));

  ASSIGN_OR_RETURN(const auto names, files.list(backup));
  ASSIGN_OR_RETURN(outcome.doubted,
                   copy_data_file(files, backup / Volume::kFileName, target / Volume::kFileName));
  for (const std::string& name : names) {
    if (is_database_file(name)) RETURN_IF_ERROR(copy_file(files, backup / name, target / name));
  }
  // Pages that are whole but known to be old.
  WrittenLsns needed;
  ASSIGN_OR_RETURN(const auto given_up,
                   GivenUpPages::open(files, target, control->current().database_id, needed));
  for (const PageId page : given_up->list())
    if (!std::ranges::binary_search(outcome.doubted, page)) outcome.doubted.push_back(page);

  // Written last: without it the directory cannot be opened.
  Control as_database = control->current();
  as_database.shutdown = Control::Shutdown::none;
  RETURN_IF_ERROR(ControlFile::create(files, target, as_database));
  RETURN_IF_ERROR(files.sync_directory(target.parent_path()));
  RETURN_IF_ERROR(mark_finished(files, target));
  return outcome;
}

}  // namespace swizzle
