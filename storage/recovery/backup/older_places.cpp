#include "storage/recovery/backup/older_places.h"

#include <utility>

#include "storage/recovery/backup/backup_end.h"
#include "wal/archive_command.h"

namespace swizzle {

wal::RestoreSegment fetch_of(const RestoreArchive& archive) {
  if (archive.function) return archive.function;
  if (archive.command.empty()) return {};
  return wal::restore_by_command(archive.command);
}

Result<ArchivedLog> open_archived_log(FileSystem& files, const BackupChain& chain,
                                      const std::string& log_name,
                                      const std::filesystem::path& log_directory,
                                      const std::filesystem::path& digest_directory,
                                      const RestoreArchive& archive,
                                      const wal::RestoreSegment& fetch) {
  const auto kept_in = chain.newest() / log_name;
  ASSIGN_OR_RETURN(const wal::LogLocation kept, wal::find_log(files, kept_in));
  const Lsn from = chain.control().checkpoint.keep_from;
  ArchivedDigests digests(files, fetch, archive.folder.empty() ? digest_directory : archive.folder,
                          kept.database_id, kept.segment_bytes);
  wal::OlderPlaces places{.folder = archive.folder,
                          .fetch = fetch,
                          .backup = kept_in,
                          .backup_end = chain.end(),
                          .check = [digests](std::uint64_t number, File& segment) {
                            return digests.check(number, segment);
                          }};
  ASSIGN_OR_RETURN(auto segments,
                   wal::OlderSegments::open(files, log_directory,
                                            {.database_id = kept.database_id,
                                             .segment_bytes = kept.segment_bytes,
                                             .first = raw(from) / kept.segment_bytes},
                                            std::move(places)));
  wal::LogLocation location = kept;
  location.directory = log_directory;
  location.older = wal::OlderLog{.database_id = kept.database_id,
                                 .end = Lsn::max,
                                 .resumes_at = Lsn::max,
                                 .from = from,
                                 .segments = segments};
  return ArchivedLog{std::move(location), std::move(segments), std::move(digests)};
}

Result<std::shared_ptr<wal::OlderSegments>> open_older_segments(
    FileSystem& files, const std::filesystem::path& directory, const std::string& log_name,
    const RestoreState& state, const wal::RestoreSegment& function) {
  const wal::OlderLog& older = *state.older_log;
  const auto log_directory = directory / log_name;
  ASSIGN_OR_RETURN(const wal::LogLocation own, wal::find_log(files, log_directory));
  wal::OlderSegments::Of of{.database_id = older.database_id, .segment_bytes = own.segment_bytes};
  if (!state.lacks_segments()) return wal::OlderSegments::open(files, log_directory, of, {});
  of.first = raw(older.from) / own.segment_bytes;
  of.end = (raw(older.end) - 1) / own.segment_bytes + 1;
  RestoreArchive archive;
  if (state.archive_folder.empty()) {
    archive.command = state.restore_command;
    archive.function = function;
  }
  const auto& backup = state.backups.back();
  ASSIGN_OR_RETURN(const BackupLabel label, read_backup_label(files, backup));
  const ArchivedDigests digests(files, {}, directory / kOlderDigestsName, older.database_id,
                                own.segment_bytes);
  return wal::OlderSegments::open(files, log_directory, of,
                                  {.folder = state.archive_folder,
                                   .fetch = fetch_of(archive),
                                   .backup = backup / log_name,
                                   .backup_end = label.end,
                                   .ends_in_backup = older.end <= label.end,
                                   .check = [digests](std::uint64_t number, File& segment) {
                                     return digests.check(number, segment);
                                   }});
}

}  // namespace swizzle
