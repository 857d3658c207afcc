#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/records/record_effects.h"
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

/// The log's end after the restore, a record boundary. 55000 if the log ends before the target, so
/// that a restore to an earlier moment than the requested one does not pass unnoticed.
struct Stop {
  Lsn end;
  std::optional<std::int64_t> last_commit_us = std::nullopt;
};
Result<Stop> find_stop(wal::Reader reader, Lsn from, const RecoveryTarget& stop) {
  Stop found{};
  reader.seek(from);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record) {
      found.end = reader.end();
      const bool reached = !stop.time_us && (!stop.lsn || found.end >= *stop.lsn);
      if (reached) return found;
      return fail(Error{sqlstate::object_not_in_prerequisite_state,
                        fmt::format("backup and archive end at {}, before the recovery target",
                                    raw(reader.end()))}
                      .with_hint("Without a target all of it is restored."));
    }
    found.end = record->lsn;
    if (stop.lsn && record->lsn >= *stop.lsn) return found;
    const bool is_commit = kind_of(record->header) == RecordKind::transaction_committed &&
                           record->payload.size() >= sizeof(std::int64_t);
    if (!is_commit) continue;
    const auto time_us = load<std::int64_t>(record->payload.data());
    if (stop.time_us && time_us > *stop.time_us) return found;
    found.last_commit_us = time_us;
  }
}

Result<> require_no_gap(FileSystem& files, const wal::RestoreSegment& archive,
                        std::uint64_t segment_bytes, Lsn end,
                        const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto later,
                   wal::find_segment_behind_gap(archive, segment_bytes, end, files,
                                                directory / "looked-for.tmp"));
  if (!later) return {};
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    fmt::format("the log ends at LSN {}, where the archive lacks a segment: it has "
                                "the later \"{}\"",
                                raw(end), *later)}
                  .with_hint("Put the missing segment into the archive. To restore without what "
                             "was committed later, stop at that LSN: --to-lsn."));
}

Result<> remove_with_content(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(directory / name));
  return files.remove(directory);
}

}  // namespace

Result<RestoredLog> restore(FileSystem& files, const std::filesystem::path& backup,
                            const std::filesystem::path& target, const std::string& log_name,
                            const wal::RestoreSegment& archive, const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(const Lsn backup_end, read_backup_end(files, backup));
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, backup));
  RETURN_IF_ERROR(require_finished(files, backup));
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(mark_unfinished(files, target));
  ASSIGN_OR_RETURN(const auto names, files.list(backup));
  RestoredLog outcome;
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

  // Copies the whole log of backup and archive first, and cuts it then.
  const Checkpoint& checkpoint = control->current().checkpoint;
  const auto whole = target / (log_name + "-whole");
  RETURN_IF_ERROR(files.create_directory(whole));
  ASSIGN_OR_RETURN(const wal::LogLocation kept, wal::find_log(files, backup / log_name));
  RETURN_IF_ERROR(wal::copy_log(kept, checkpoint.keep_from, backup_end, files, whole));
  wal::LogOptions options;
  options.directory = whole;
  options.database_id = kept.database_id;
  options.segment_bytes = kept.segment_bytes;
  options.restore = archive;
  {
    ASSIGN_OR_RETURN(auto log, wal::Log::open(files, options, checkpoint.begin));
    outcome.known_end = log->begin();
    ASSIGN_OR_RETURN(const Stop found, find_stop(log->reader(), checkpoint.begin, stop));
    const Lsn end = found.end;
    outcome.end = end;
    outcome.last_commit_us = found.last_commit_us;
    if (archive && !stop.lsn && !stop.time_us)
      RETURN_IF_ERROR(require_no_gap(files, archive, kept.segment_bytes, end, whole));
    if (end < backup_end)
      return fail(sqlstate::object_not_in_prerequisite_state,
                  fmt::format("the recovery target at {} is before the end of backup \"{}\" at {}",
                              raw(end), backup.native(), raw(backup_end)));
    RETURN_IF_ERROR(files.create_directory(target / log_name));
    RETURN_IF_ERROR(
        wal::copy_log(log->location(), checkpoint.keep_from, end, files, target / log_name));
    log->close();
  }
  RETURN_IF_ERROR(remove_with_content(files, whole));
  // Written last: without it the directory cannot be opened.
  Control as_database = control->current();
  as_database.shutdown = Control::Shutdown::none;
  RETURN_IF_ERROR(ControlFile::create(files, target, as_database));
  RETURN_IF_ERROR(files.sync_directory(target.parent_path()));
  RETURN_IF_ERROR(mark_finished(files, target));
  return outcome;
}

}  // namespace swizzle
