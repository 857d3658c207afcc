#include "storage/recovery/control_rebuild.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "storage/recovery/records/record_effects.h"
#include "storage/space/space_map.h"
#include "wal/log.h"
#include "wal/timeline.h"

namespace swizzle {
namespace {

// Returns the directory's root: the last page that was allocated for it before its first row was
// written.
Result<PageId> find_directory_root(const wal::LogLocation& location, Lsn from) {
  wal::Reader reader(location, Lsn::max);
  reader.seek(from);
  PageId root = PageId::none;
  while (true) {
    auto record = reader.next();
    // The log ends here, or is damaged: opening the log will tell.
    if (!record || !*record) return root;
    const wal::RecordHeader& header = (*record)->header;
    if (header.kind < wal::RecordKind::first_for_storage || header.tree != TreeId::directory)
      continue;
    if (kind_of(header) == RecordKind::page_image) root = header.page;
    if (kind_of(header) == RecordKind::leaf_insert) return root;
  }
}

std::unexpected<Error> refused(const Error& lost, std::string_view why) {
  return fail(Error{sqlstate::data_corrupted, fmt::format("{}; {}", lost.message(), why)}.with_hint(
      "Restore the directory from a backup."));
}

}  // namespace

Result<std::unique_ptr<ControlFile>> open_or_rebuild_control(
    FileSystem& files, const std::filesystem::path& directory, const Volume& volume,
    const std::filesystem::path& log_directory) {
  auto opened = ControlFile::open(files, directory);
  if (opened || opened.error().state() != sqlstate::data_corrupted) return opened;
  const Error lost = std::move(opened).error();

  const auto location = wal::find_log(files, log_directory);
  if (!location) return refused(lost, location.error().message());
  const Lsn origin = wal::Log::origin(location->segment_bytes);
  const auto first = wal::find_record(*location, Lsn::none);
  if (!first) return refused(lost, first.error().message());
  if (*first != std::optional{origin}) {
    return refused(lost, fmt::format("without it the log is needed from LSN {} on, and it begins "
                                     "at {}",
                                     raw(origin), *first ? raw(**first) : 0));
  }
  ASSIGN_OR_RETURN(const PageId root, find_directory_root(*location, origin));
  if (root == PageId::none)
    return refused(lost, fmt::format("the log from LSN {} on does not know the directory of trees",
                                     raw(origin)));
  Control control;
  control.database_id = volume.database_id();
  control.log_id = location->database_id;
  control.log_segment_bytes = location->segment_bytes;
  ASSIGN_OR_RETURN(control.timeline, wal::TimelineHistory::newest(files, log_directory));
  control.directory_root = root;
  control.checkpoint.begin = control.checkpoint.redo_from = control.checkpoint.keep_from = origin;
  // Restores the map's first state: the log has everything since.
  for (const char* name : SpaceMap::kFileNames) {
    ASSIGN_OR_RETURN(const bool exists, files.exists(directory / name));
    if (exists) RETURN_IF_ERROR(files.remove(directory / name));
  }
  RETURN_IF_ERROR(SpaceMap::create(files, directory, control.database_id, origin));
  RETURN_IF_ERROR(ControlFile::create(files, directory, control));
  spdlog::warn(
      "both copies of the control file are lost; the log goes back to LSN {}, where the "
      "database began, and everything is done again from there",
      raw(origin));
  return ControlFile::open(files, directory);
}

}  // namespace swizzle
