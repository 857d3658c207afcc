#include "storage/backup.h"

#include "storage/engine_parts.h"
#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/new_log.h"

namespace swizzle {

Result<BackupOutcome> Engine::back_up(const std::filesystem::path& target,
                                      const RecoveryObserver& observer) {
  if (!parts_->options.logging)
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a database that runs without logging cannot be backed up while it runs");
  const BackupParts parts{
      *parts_->volume, *parts_->space, *parts_->log, *parts_->checkpointer,
      [this](PageId page, std::byte* into) { return parts_->repair->rebuild(page, into); }};
  return swizzle::back_up(parts, parts_->files, target, kLogDirectory, observer);
}

Result<RestoreOutcome> restore_backup(FileSystem& files, const std::filesystem::path& backup,
                                      const std::filesystem::path& target,
                                      const wal::RestoreSegment& archive,
                                      const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(const RestoredLog log,
                   restore(files, backup, target, kLogDirectory, archive, stop));
  RestoreOutcome outcome{.end = log.end, .begins_again = Lsn::none};
  EngineOptions options;
  options.pool_bytes = std::uint64_t{256} << 20U;
  {
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, target, options));
    RETURN_IF_ERROR(engine->close());
  }
  // From here on a crash would leave neither the old log whole nor the new one.
  RETURN_IF_ERROR(mark_unfinished(files, target));
  ASSIGN_OR_RETURN(outcome.begins_again,
                   begin_new_log(files, target, kLogDirectory, log.known_end));
  RETURN_IF_ERROR(mark_finished(files, target));
  return outcome;
}

}  // namespace swizzle
