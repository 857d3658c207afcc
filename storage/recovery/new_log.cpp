#include "storage/recovery/new_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime.h"
#include "storage/recovery/control_file.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {
namespace {

// Where the log of a closed database ends.
Result<Lsn> end_of_log(FileSystem& files, const wal::LogOptions& options, Lsn scan_from) {
  ASSIGN_OR_RETURN(const auto log, wal::Log::open(files, options, scan_from));
  const Lsn end = log->begin();
  log->close();
  return end;
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
  ASSIGN_OR_RETURN(const Lsn end, end_of_log(files, options, control.checkpoint.begin));
  ASSIGN_OR_RETURN(const auto map,
                   SpaceMap::load(files, directory, *volume, control.checkpoint.begin, end));

  ASSIGN_OR_RETURN(const auto names, files.list(options.directory));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(options.directory / name));
  // One segment that nobody has, so that who follows the old log in an archive stops before this
  // one.
  const Lsn behind{raw(std::max(end, not_before)) + options.segment_bytes};
  control.log_id = Runtime::current().random() | 1U;
  options.database_id = control.log_id;
  ASSIGN_OR_RETURN(const auto log, wal::Log::create(files, options, behind));
  const Lsn begin = log->begin();
  log->close();

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
