#include "storage/backup.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>

#include "base/memory/aligned_buffer.h"
#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/recovery/backup/backup.h"
#include "storage/recovery/backup/repair_backup.h"
#include "storage/recovery/backup/restore_on_demand.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/new_log.h"
#include "storage/recovery/records/restore_point_record.h"
#include "storage/recovery/restore_state.h"
#include "storage/restore.h"

namespace swizzle {
namespace {

/// Copies a page from memory if it is resident: the image on disk is not as expected, the one in
/// memory is right. Searches all frames.
bool copy_resident(BufferPool& pool, PageId page, std::byte* into) {
  bool is_copied = false;
  pool.arena().for_each_used([&](Frame& frame) {
    if (is_copied || frame.page_id() != page) return;
    const SharedGuard hold(frame.latch);
    if (frame.page_id() != page || frame.state() == FrameState::free || !frame.is_compared())
      return;
    std::memcpy(into, frame.page(), kPageBytes);
    unswizzle_copy(pool.layout(), into);
    is_copied = true;
  });
  if (is_copied) seal_page(into);
  return is_copied;
}

Result<BackupOutcome> back_up_to(EngineParts& from, FileSystem& files,
                                 const std::filesystem::path& target,
                                 const RecoveryObserver& observer,
                                 const std::optional<std::filesystem::path>& since = {}) {
  if (!from.options.logging)
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a database that runs without logging cannot be backed up while it runs");
  if (from.unrestored != nullptr && !from.unrestored->is_complete())
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("the database is being restored on demand: {} of its pages are "
                                  "still in other backups alone",
                                  from.unrestored->lacking_count())}
                    .with_hint("Try again when the server's log says that the restore is complete; "
                               "swizzle_recovery shows how far it is."));
  const BackupParts parts{*from.volume,
                          *from.space,
                          *from.log,
                          *from.checkpointer,
                          [&from](PageId page, Lsn newest, std::byte* into) {
                            return from.repair->mend(page, newest, into);
                          },
                          [&from](PageId page, std::byte* into) {
                            return copy_resident(from.trees->factory().pool(), page, into);
                          },
                          from.given_up.get(),
                          from.untidy.get(),
                          [&from]() -> Result<> {
                            RETURN_IF_ERROR(from.redo->finish());
                            return from.cleaner->clean_all();
                          }};
  return swizzle::back_up(parts, files, target, kLogDirectory, observer, since);
}

}  // namespace

Result<BackupOutcome> Engine::back_up(const std::filesystem::path& target,
                                      const RecoveryObserver& observer) {
  if (is_standby())
    return fail(sqlstate::feature_not_supported, "a backup of a standby is not supported");
  return back_up_to(*parts_, parts_->files, target, observer);
}

Result<BackupOutcome> Engine::back_up_changes(const std::filesystem::path& since,
                                              const std::filesystem::path& target,
                                              const RecoveryObserver& observer) {
  if (is_standby())
    return fail(sqlstate::feature_not_supported, "a backup of a standby is not supported");
  return back_up_to(*parts_, parts_->files, target, observer, since);
}

Result<BackupOutcome> LogicalLog::copy_database(FileSystem& files,
                                                const std::filesystem::path& target,
                                                const RecoveryObserver& observer) {
  if (engine_.replay_gate != nullptr)
    return fail(sqlstate::feature_not_supported, "a copy of a standby is not supported");
  return back_up_to(engine_, files, target, observer);
}

Result<Lsn> Engine::create_restore_point(std::string_view name) {
  Parts& parts = *parts_;
  if (is_standby())
    return fail(sqlstate::object_not_in_prerequisite_state, "recovery is in progress");
  if (!parts.options.logging)
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a database that runs without logging has no restore points");
  if (name.size() > payload::kMostRestorePointBytes)
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("value too long for restore point (maximum {} characters)",
                            payload::kMostRestorePointBytes));
  const auto point = payload::encode_restore_point(Runtime::current().wall_clock_us(), name);
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::restore_point);
  ASSIGN_OR_RETURN(wal::Reservation space, parts.log->reserve(point.size()));
  const wal::Appended appended = parts.log->append(space, header, Bytes{point});
  parts.log->flush_to(appended.end);
  spdlog::info("restore point \"{}\" created at {:X}/{:X}", name, raw(appended.end) >> 32U,
               raw(appended.end) & UINT32_MAX);
  return appended.end;
}

Result<std::vector<std::string>> Engine::read_pages(std::span<const PageId> pages) {
  std::vector<std::string> unreadable;
  AlignedBuffer page(kPageBytes);
  for (const PageId id : pages) {
    if (!parts_->space->is_allocated(id)) continue;
    auto read = parts_->store->read_page(id, page.data());
    if (read) continue;
    if (!is_unreadable(read.error())) return fail(std::move(read).error());
    unreadable.push_back(read.error().message());
  }
  return unreadable;
}

Result<> check_repair_backups(FileSystem& files, const std::filesystem::path& directory,
                              const std::vector<std::filesystem::path>& backups) {
  return require_backups_of(files, directory, backups);
}

Result<RestoreOutcome> restore_backup(FileSystem& files,
                                      const std::vector<std::filesystem::path>& backups,
                                      const std::filesystem::path& target,
                                      const RestoreArchive& archive, const RecoveryTarget& stop) {
  ASSIGN_OR_RETURN(const RestoredLog log,
                   restore(files, backups, target, kLogDirectory, archive, stop));
  std::vector<std::string> given_up;
  EngineOptions options;
  options.pool_bytes = std::uint64_t{256} << 20U;
  {
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, target, options));
    RETURN_IF_ERROR(engine->close());
  }
  if (!log.doubted.empty()) {
    // Nothing writes now, so the disk has all pages.
    ASSIGN_OR_RETURN(const auto engine, Engine::open(files, target, options));
    ASSIGN_OR_RETURN(given_up, engine->read_pages(log.doubted));
    RETURN_IF_ERROR(engine->close());
  }
  // From here on a crash leaves neither the old log whole nor the new one.
  RETURN_IF_ERROR(mark_unfinished(files, target));
  ASSIGN_OR_RETURN(const Lsn begins_again,
                   begin_new_log(files, target, kLogDirectory, log.known_end));
  RETURN_IF_ERROR(mark_finished(files, target));
  RestoreOutcome outcome = restore_outcome(log.stop, begins_again);
  outcome.given_up = std::move(given_up);
  outcome.log_bytes_read = log.bytes_read;
  return outcome;
}

Result<RestoreOutcome> begin_restore(FileSystem& files,
                                     const std::vector<std::filesystem::path>& backups,
                                     const std::filesystem::path& target,
                                     const RestoreArchive& archive, const RecoveryTarget& stop,
                                     const RestoreGoesOn& goes_on) {
  return restore_lists(files, backups, target, kLogDirectory, archive, stop, goes_on);
}

Result<bool> is_restored_from(FileSystem& files, const std::filesystem::path& directory,
                              const std::vector<std::filesystem::path>& backups) {
  ASSIGN_OR_RETURN(const auto state, read_restore_state(files, directory));
  return state && state->phase != RestoreState::Phase::begun && state->backups == backups;
}

}  // namespace swizzle
