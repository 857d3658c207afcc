#include "storage/recovery/backup/restored_log.h"

#include <fmt/format.h>

#include "wal/log.h"
#include "wal/log_copy.h"

namespace swizzle {
namespace {

Result<> require_no_gap(FileSystem& files, const wal::RestoreSegment& archive,
                        const wal::LogLocation& log, Lsn end) {
  ASSIGN_OR_RETURN(
      const auto later,
      wal::find_segment_behind_gap(archive, log, end, files, log.directory / "looked-for.tmp"));
  if (!later) return {};
  return fail(
      Error{sqlstate::object_not_in_prerequisite_state,
            fmt::format("the log ends at LSN {}, where the archive lacks a segment: it has "
                        "the later \"{}\"",
                        raw(end), *later)}
          .with_hint(
              "Put the missing segment into the archive. To restore without what "
              "was committed later, stop at that LSN: --target-lsn with --target-exclusive."));
}

}  // namespace

Result<> require_after_backup(const BackupChain& chain, const RecoveryTarget& target) {
  if (!target.time_us) return {};
  const Checkpoint& checkpoint = chain.control().checkpoint;
  const bool is_after = target.bound == RecoveryTarget::Bound::inclusive
                            ? *target.time_us >= checkpoint.taken_at_us
                            : *target.time_us > checkpoint.taken_at_us;
  if (is_after) return {};
  return fail(
      sqlstate::object_not_in_prerequisite_state,
      fmt::format("the recovery target, {}, is before the backup, which began at {}",
                  describe_target(target), describe_target({.time_us = checkpoint.taken_at_us})));
}

Result<WholeLog> collect_log(FileSystem& files, const BackupChain& chain,
                             const std::string& log_name, const std::filesystem::path& directory,
                             const wal::RestoreSegment& archive, const RecoveryTarget& target) {
  const Checkpoint& checkpoint = chain.control().checkpoint;
  ASSIGN_OR_RETURN(const wal::LogLocation kept, wal::find_log(files, chain.newest() / log_name));
  RETURN_IF_ERROR(wal::copy_log(kept, checkpoint.keep_from, chain.end(), files, directory));
  wal::LogOptions options;
  options.directory = directory;
  options.database_id = kept.database_id;
  options.segment_bytes = kept.segment_bytes;
  options.restore = archive;
  ASSIGN_OR_RETURN(auto log, wal::Log::open(files, options, checkpoint.begin));
  WholeLog whole{
      log->location(), {}, log->begin(), Lsn{log->statistics().end_segment * kept.segment_bytes}};
  auto stop = find_stop(log->reader(), checkpoint.begin, chain.end(), target);
  log->close();
  if (!stop) return fail(std::move(stop).error());
  if (archive && (!has_target(target) || !*stop))
    RETURN_IF_ERROR(require_no_gap(files, archive, whole.location, whole.end));
  if (!*stop) {
    return fail(
        Error{sqlstate::object_not_in_prerequisite_state,
              fmt::format("backup and archive end at LSN {}, before the recovery target, {}",
                          raw(whole.end), describe_target(target))}
            .with_hint("Without a target all of it is restored."));
  }
  whole.stop = std::move(**stop);
  return whole;
}

}  // namespace swizzle
