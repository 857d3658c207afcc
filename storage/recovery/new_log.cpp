#include "storage/recovery/new_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/runtime.h"
#include "storage/recovery/carry_over.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/restore_state.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {
namespace {

Result<> remove_files(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(directory / name));
  return {};
}

/// Moves the new log, which was made beside the old one, into its place.
Result<> replace_log(FileSystem& files, const std::filesystem::path& old,
                     const std::filesystem::path& by) {
  RETURN_IF_ERROR(remove_files(files, old));
  ASSIGN_OR_RETURN(const auto names, files.list(by));
  for (const std::string& name : names) RETURN_IF_ERROR(files.rename(by / name, old / name));
  RETURN_IF_ERROR(files.sync_directory(old));
  return files.remove(by);
}

}  // namespace

Result<Lsn> begin_new_log(FileSystem& files, const std::filesystem::path& directory,
                          const std::string& log_name, Lsn not_before) {
  ASSIGN_OR_RETURN(const auto volume, Volume::open(files, directory));
  ASSIGN_OR_RETURN(const auto control_file, ControlFile::open(files, directory));
  Control control = control_file->current();
  if (control.shutdown != Control::Shutdown::clean)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("database \"{}\" was not closed", directory.native()));
  wal::LogOptions options;
  options.directory = directory / log_name;
  options.database_id = control.log_id;
  ASSIGN_OR_RETURN(const wal::LogLocation old, wal::find_log(files, options.directory));
  options.segment_bytes = old.segment_bytes;
  ASSIGN_OR_RETURN(const auto old_log, wal::Log::open(files, options, control.checkpoint.begin));
  const Lsn end = old_log->begin();
  ASSIGN_OR_RETURN(const auto map,
                   SpaceMap::load(files, directory, *volume, control.checkpoint.begin, end));

  // Skip one segment, so that followers of the old log in an archive stop before this one.
  const Lsn behind{raw(std::max(end, not_before)) + options.segment_bytes};
  control.log_id = Runtime::current().random() | 1U;
  control.timeline = 1;
  options.database_id = control.log_id;
  options.directory = directory / (log_name + "-new");
  RETURN_IF_ERROR(files.create_directory(options.directory));
  ASSIGN_OR_RETURN(const auto log, wal::Log::create(files, options, behind));
  const Lsn begin = log->begin();
  // When the database was closed, no other transactions were open.
  RETURN_IF_ERROR(carry_over_prepared(*old_log, control.checkpoint.active, *log));
  log->close();
  old_log->close();
  RETURN_IF_ERROR(replace_log(files, directory / log_name, options.directory));

  const SpaceMap::Snapshot pages = map->snapshot([begin] { return begin; });
  for (const char* name : SpaceMap::kFileNames) RETURN_IF_ERROR(files.remove(directory / name));
  RETURN_IF_ERROR(SpaceMap::create(files, directory, volume->database_id(), pages));
  const TxnId next_txn = control.checkpoint.next_txn;
  control.checkpoint = {};
  control.checkpoint.begin = control.checkpoint.redo_from = control.checkpoint.keep_from = begin;
  control.checkpoint.next_txn = next_txn;
  RETURN_IF_ERROR(ControlFile::create(files, directory, control));
  return begin;
}

std::string way_on_without_log(const Control& control) {
  const std::string put_back = "Put the missing log segments back, or restore a backup.";
  if (control.shutdown != Control::Shutdown::clean || !control.checkpoint.active.empty())
    return put_back;
  return put_back +
         " The database was closed in good order, so its pages have everything: \"swizzle-backup "
         "new-log DIRECTORY\" gives it a new log, without which replication slots and a restore "
         "from an older backup can do nothing.";
}

Result<Lsn> replace_lost_log(FileSystem& files, const std::filesystem::path& directory,
                             const std::string& log_name) {
  RETURN_IF_ERROR(require_restored(files, directory));
  ASSIGN_OR_RETURN(const auto volume, Volume::open(files, directory));
  ASSIGN_OR_RETURN(const auto control_file, ControlFile::open(files, directory));
  Control control = control_file->current();
  if (control.shutdown != Control::Shutdown::clean || !control.checkpoint.active.empty())
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("database \"{}\" was not closed in good order, or has prepared "
                                  "transactions: what its pages lack is in its log alone",
                                  directory.native())}
                    .with_hint("Put the missing log segments back, or restore a backup."));
  ASSIGN_OR_RETURN(const auto map,
                   SpaceMap::load(files, directory, *volume, control.checkpoint.begin));
  wal::LogOptions options;
  options.directory = directory / (log_name + "-new");
  options.segment_bytes = control.log_segment_bytes;
  options.database_id = control.log_id = Runtime::current().random() | 1U;
  control.timeline = 1;
  ASSIGN_OR_RETURN(const bool was_begun, files.exists(options.directory));
  if (was_begun)
    RETURN_IF_ERROR(remove_files(files, options.directory));
  else
    RETURN_IF_ERROR(files.create_directory(options.directory));
  // After the checkpoint the log has at most the checkpoint's own record.
  const Lsn behind{raw(control.checkpoint.begin) + 2 * options.segment_bytes};
  ASSIGN_OR_RETURN(const auto log, wal::Log::create(files, options, behind));
  const Lsn begin = log->begin();
  log->close();

  const auto old = directory / log_name;
  const auto lost = directory / (log_name + "-lost");
  for (const auto& made : {lost, old}) {
    ASSIGN_OR_RETURN(const bool is_there, files.exists(made));
    if (!is_there) RETURN_IF_ERROR(files.create_directory(made));
  }
  ASSIGN_OR_RETURN(const auto names, files.list(old));
  for (const std::string& name : names) RETURN_IF_ERROR(files.rename(old / name, lost / name));
  RETURN_IF_ERROR(files.sync_directory(lost));
  RETURN_IF_ERROR(replace_log(files, old, options.directory));
  RETURN_IF_ERROR(files.sync_directory(directory));

  // Write the maps before the control file, which says that the log begins here; both copies, one
  // after the other.
  const SpaceMap::Snapshot pages = map->snapshot([begin] { return begin; });
  const TxnId next_txn = control.checkpoint.next_txn;
  control.checkpoint = {};
  control.checkpoint.begin = control.checkpoint.redo_from = control.checkpoint.keep_from = begin;
  control.checkpoint.next_txn = next_txn;
  for (int copy = 0; copy < 2; ++copy) {
    RETURN_IF_ERROR(map->persist(pages));
    RETURN_IF_ERROR(control_file->write(control));
  }
  return begin;
}

}  // namespace swizzle
