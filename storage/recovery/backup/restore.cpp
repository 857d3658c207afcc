#include <set>
#include <span>
#include <utility>

#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/older_places.h"
#include "storage/recovery/backup/restored_log.h"
#include "storage/recovery/backup/unfinished.h"
#include "wal/log_copy.h"

namespace swizzle {
namespace {

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
                            const RestoreArchive& archive, const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(BackupChain chain, BackupChain::open(files, backups));
  const Checkpoint& checkpoint = chain.control().checkpoint;
  RETURN_IF_ERROR(require_after_backup(chain, stop));
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(mark_unfinished(files, target));
  // Pages are copied only if the target can be reached.
  const auto whole = target / (log_name + "-whole");
  RETURN_IF_ERROR(files.create_directory(whole));
  auto log = [&]() -> Result<WholeLog> {
    ASSIGN_OR_RETURN(
        const ArchivedLog archived,
        open_archived_log(files, chain, log_name, whole, whole, archive, fetch_of(archive)));
    return collect_log(archived, chain, stop, {});
  }();
  if (!log) {
    remove_unfinished(files, target, whole);
    return fail(std::move(log).error());
  }
  RestoredLog outcome{
      .stop = log->stop, .known_end = log->segments_end, .bytes_read = log->bytes_read};
  RETURN_IF_ERROR(files.create_directory(target / log_name));
  RETURN_IF_ERROR(
      wal::copy_log(log->location, checkpoint.keep_from, log->stop.end, files, target / log_name));
  RETURN_IF_ERROR(remove_with_content(files, whole));

  std::set<PageId> doubted;
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
