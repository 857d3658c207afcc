#include "storage/recovery/new_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/runtime.h"
#include "storage/recovery/carry_over.h"
#include "storage/recovery/checkpoint/control_file.h"
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

/// The new log was made beside the old one, whose place it takes.
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

  // Leave out one segment, so that followers of the old log in an archive stop before this one.
  const Lsn behind{raw(std::max(end, not_before)) + options.segment_bytes};
  control.log_id = Runtime::current().random() | 1U;
  options.database_id = control.log_id;
  options.directory = directory / (log_name + "-new");
  RETURN_IF_ERROR(files.create_directory(options.directory));
  ASSIGN_OR_RETURN(const auto log, wal::Log::create(files, options, behind));
  const Lsn begin = log->begin();
  // Nothing else was open when the database was closed.
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

}  // namespace swizzle
