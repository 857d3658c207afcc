#include "storage/recovery/backup/restore_on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/runtime/runtime.h"
#include "storage/btree/records.h"
#include "storage/recovery/analysis.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/older_places.h"
#include "storage/recovery/backup/restored_log.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/recovery.h"
#include "storage/recovery/restore_state.h"
#include "wal/log.h"
#include "wal/older_log.h"

namespace swizzle {
namespace {

wal::LogOptions new_log_options(const std::filesystem::path& directory,
                                std::uint64_t segment_bytes) {
  wal::LogOptions options;
  options.directory = directory;
  options.database_id = Runtime::current().random() | 1U;
  options.segment_bytes = segment_bytes;
  return options;
}

/// Fills a directory with everything but the pages.
class DirectoryMaker {
 public:
  DirectoryMaker(FileSystem& files, const BackupChain& chain, const std::filesystem::path& target,
                 const std::string& log_name, const RestoreGoesOn& goes_on)
      : files_(files), chain_(chain), target_(target), log_name_(log_name), goes_on_(goes_on) {}

  struct Made {
    RestoreOutcome outcome;
    wal::OlderLog older;
  };
  Result<Made> make(const RestoreArchive& archive, const RecoveryTarget& stop) {
    const std::filesystem::path log_directory = target_ / log_name_;
    const std::filesystem::path digest_directory = target_ / kOlderDigestsName;
    for (const auto& directory : {digest_directory, log_directory})
      RETURN_IF_ERROR(files_.create_directory(directory));
    RETURN_IF_ERROR(files_.sync_directory(target_));
    ASSIGN_OR_RETURN(const ArchivedLog log,
                     open_archived_log(files_, chain_, log_name_, log_directory, digest_directory,
                                       archive, ending(fetch_of(archive))));
    ASSIGN_OR_RETURN(const WholeLog whole, collect_log(log, chain_, stop, goes_on_));
    RETURN_IF_ERROR(make_data_file());
    RETURN_IF_ERROR(chain_.copy_lists(files_, target_));
    // Skip one segment, so that followers of the old log in an archive stop before this one.
    const Lsn begin{raw(whole.segments_end) + whole.location.segment_bytes};
    wal::OlderLog older = *whole.location.older;
    older.end = whole.stop.end;
    older.resumes_at = begin;
    const wal::LogOptions options = new_log_options(log_directory, whole.location.segment_bytes);
    RETURN_IF_ERROR(wal::begin_behind(files_, options, older));
    RETURN_IF_ERROR(write_lists(options, older, *whole.analysis));
    Made made{restore_outcome(whole.stop, begin), older};
    made.outcome.log_bytes_read = whole.bytes_read;
    return made;
  }

 private:
  /// Returns the function that fetches segments, which also ends with the restore.
  [[nodiscard]] wal::RestoreSegment ending(wal::RestoreSegment fetch) const {
    if (!fetch) return fetch;
    return [this, fetch = std::move(fetch)](const std::string& name,
                                            const std::filesystem::path& to) -> Result<bool> {
      RETURN_IF_ERROR(require_going_on(goes_on_));
      return fetch(name, to);
    };
  }

  /// The file gets its room now: the writes of pages must not find the disk full.
  Result<> make_data_file() {
    RETURN_IF_ERROR(Volume::create(files_, target_, chain_.control().database_id));
    ASSIGN_OR_RETURN(const auto data,
                     files_.open(target_ / Volume::kFileName, OpenMode::read_write, {}));
    RETURN_IF_ERROR(data->allocate(0, chain_.page_count() * kPageBytes));
    return data->sync();
  }

  /// Writes the space map and the control file as a checkpoint at the new log's begin has them.
  Result<> write_lists(const wal::LogOptions& options, const wal::OlderLog& older,
                       LogAnalysis& analysis) {
    Control control = chain_.control();
    ASSIGN_OR_RETURN(const auto volume, Volume::open(files_, target_));
    const auto old_log = wal::Log::read_only(files_, options, older.end, 1, older);
    ASSIGN_OR_RETURN(const Recovered recovered,
                     recover(files_, target_, *volume, control, *old_log, analysis));
    const Lsn begin = older.resumes_at;
    const SpaceMap::Snapshot pages = recovered.space->snapshot([begin] { return begin; });
    for (const char* name : SpaceMap::kFileNames) RETURN_IF_ERROR(files_.remove(target_ / name));
    RETURN_IF_ERROR(SpaceMap::create(files_, target_, control.database_id, pages));
    control.log_id = options.database_id;
    control.timeline = 1;
    control.shutdown = Control::Shutdown::none;
    control.checkpoint = checkpoint_at(begin, recovered);
    return ControlFile::create(files_, target_, control);
  }

  [[nodiscard]] static Checkpoint checkpoint_at(Lsn begin, const Recovered& recovered) {
    Checkpoint checkpoint;
    checkpoint.begin = checkpoint.redo_from = begin;
    checkpoint.next_txn = recovered.next_txn;
    for (const auto& [page, pending] : recovered.pending) {
      checkpoint.dirty.push_back({page, pending.since, pending.newest});
      checkpoint.redo_from = std::min(checkpoint.redo_from, pending.since);
    }
    checkpoint.keep_from = checkpoint.redo_from;
    for (const auto* const open : {&recovered.losers, &recovered.prepared}) {
      for (const ActiveTransaction& transaction : *open) {
        checkpoint.active.push_back(transaction);
        checkpoint.keep_from = std::min(checkpoint.keep_from, transaction.first);
      }
    }
    return checkpoint;
  }

  FileSystem& files_;
  const BackupChain& chain_;
  const std::filesystem::path& target_;
  const std::string& log_name_;
  const RestoreGoesOn& goes_on_;
};

/// Removes the directory. The file that says what it is goes last, so that a crash in the middle
/// leaves a directory that a later call may remove.
Result<> remove_begun(FileSystem& files, const std::filesystem::path& target,
                      const std::string& log_name) {
  for (const auto& directory : {target / kOlderDigestsName, target / log_name}) {
    ASSIGN_OR_RETURN(const bool is_there, files.exists(directory));
    if (is_there) RETURN_IF_ERROR(remove_with_content(files, directory));
  }
  ASSIGN_OR_RETURN(const auto names, files.list(target));
  for (const std::string& name : names)
    if (name != kRestoredFromName) RETURN_IF_ERROR(files.remove(target / name));
  RETURN_IF_ERROR(files.sync_directory(target));
  return remove_with_content(files, target);
}

/// Refuses a directory that is not what a call that a crash has ended leaves.
Result<> require_begun(FileSystem& files, const std::filesystem::path& target) {
  ASSIGN_OR_RETURN(const auto names, files.list(target));
  ASSIGN_OR_RETURN(const auto state, read_restore_state(files, target));
  const bool is_begun = state && state->phase == RestoreState::Phase::begun;
  const bool is_hardly_begun = !state && std::ranges::all_of(names, [](const std::string& name) {
    return name == kUnfinishedName || name == std::string{kRestoredFromName} + ".tmp";
  });
  if (is_begun || is_hardly_begun) return {};
  return fail(sqlstate::object_not_in_prerequisite_state,
              fmt::format("directory \"{}\" exists but is not empty", target.native()));
}

}  // namespace

Result<RestoreOutcome> restore_lists(FileSystem& files,
                                     std::span<const std::filesystem::path> backups,
                                     const std::filesystem::path& target,
                                     const std::string& log_name, const RestoreArchive& archive,
                                     const RecoveryTarget& stop, const RestoreGoesOn& goes_on) {
  ASSIGN_OR_RETURN(const BackupChain chain, BackupChain::open(files, backups));
  RETURN_IF_ERROR(require_after_backup(chain, stop));
  ASSIGN_OR_RETURN(const bool is_there, files.exists(target));
  if (is_there) {
    RETURN_IF_ERROR(require_begun(files, target));
    RETURN_IF_ERROR(remove_begun(files, target, log_name));
  }
  RETURN_IF_ERROR(files.create_directory(target));
  RETURN_IF_ERROR(files.sync_directory(target.parent_path()));
  DirectoryMaker maker(files, chain, target, log_name, goes_on);
  RestoreState state{.phase = RestoreState::Phase::begun,
                     .backup_id = chain.label().id,
                     .backups = {backups.begin(), backups.end()}};
  auto made = [&]() -> Result<RestoreOutcome> {
    RETURN_IF_ERROR(mark_unfinished(files, target));
    RETURN_IF_ERROR(write_restore_state(files, target, state));
    ASSIGN_OR_RETURN(DirectoryMaker::Made made_of, maker.make(archive, stop));
    RETURN_IF_ERROR(mark_finished(files, target));
    // Last: from now on the directory can be opened.
    state.phase = RestoreState::Phase::pages_left;
    state.older_log = made_of.older;
    state.archive_folder = archive.folder;
    state.restore_command = archive.command;
    RETURN_IF_ERROR(write_restore_state(files, target, state));
    return std::move(made_of.outcome);
  }();
  // The error that ends the restore tells more than one of the removal.
  if (!made) static_cast<void>(remove_begun(files, target, log_name));
  return made;
}

}  // namespace swizzle
