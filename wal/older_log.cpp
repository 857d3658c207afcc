#include "wal/older_log.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/invariant.h"
#include "wal/internal/log_restore.h"
#include "wal/internal/log_scan.h"
#include "wal/internal/segment_store.h"
#include "wal/log_copy.h"

namespace swizzle::wal {

Result<LogExtent> read_to_end(const LogLocation& location, Lsn from, OpeningVisitor& visitor) {
  ASSIGN_OR_RETURN(const LogEnd found, find_end(location, raw(from), &visitor));
  const SegmentGeometry geometry{location.segment_bytes};
  return LogExtent{Lsn{found.end}, Lsn{geometry.first_lsn(found.last_segment + 1)}};
}

Result<bool> fetch_segment(FileSystem& files, const LogOptions& options, std::uint64_t number) {
  const std::filesystem::path target = options.directory / "restored.tmp";
  ASSIGN_OR_RETURN(const bool found, options.restore(segment_name(number), target));
  if (!found) return false;
  RETURN_IF_ERROR(check_restored(files, target, options, number));
  RETURN_IF_ERROR(files.rename(target, options.directory / segment_name(number)));
  return true;
}

Result<Lsn> collect_segments(FileSystem& files, const LogLocation& backup, const KeptLog& kept,
                             const LogOptions& options) {
  const SegmentGeometry geometry{backup.segment_bytes};
  // An end between two segments: the backup lacks the one after it.
  const std::uint64_t last = geometry.number_of(raw(kept.end) - 1);
  for (std::uint64_t number = geometry.number_of(raw(kept.from));; ++number) {
    Result<bool> is_found = false;
    if (options.restore) is_found = fetch_segment(files, options, number);
    // Of what the backup has whole, the archive may have something else.
    const bool is_whole = raw(kept.whole_before) >= geometry.first_lsn(number + 1);
    if (!is_found && (!is_whole || is_found.error().state() != sqlstate::data_corrupted))
      return fail(std::move(is_found).error());
    if (is_found && *is_found) continue;
    if (number <= last) {
      const Lsn start = std::max(kept.from, Lsn{geometry.first_lsn(number)});
      const Lsn end = std::min(kept.end, Lsn{geometry.first_lsn(number + 1)});
      RETURN_IF_ERROR(copy_log(backup, start, end, files, options.directory));
    }
    if (number < last) continue;
    RETURN_IF_ERROR(files.sync_directory(options.directory));
    return Lsn{geometry.first_lsn(number > last ? number : number + 1)};
  }
}

Result<> take_over_segments(FileSystem& files, const std::filesystem::path& from,
                            const std::filesystem::path& to) {
  ASSIGN_OR_RETURN(const auto numbers, list_segments(files, from));
  for (const std::uint64_t number : numbers)
    RETURN_IF_ERROR(files.rename(from / segment_name(number), to / older_segment_name(number)));
  RETURN_IF_ERROR(files.sync_directory(to));
  return files.sync_directory(from);
}

Result<> begin_behind(FileSystem& files, const LogOptions& options, const OlderLog& older) {
  const SegmentGeometry geometry{options.segment_bytes};
  const std::uint64_t number = geometry.number_of(raw(older.resumes_at));
  INVARIANT(geometry.first_lsn(number) == raw(older.resumes_at));
  ASSIGN_OR_RETURN(const auto file,
                   files.open(options.directory / segment_name(number), OpenMode::create_new, {}));
  RETURN_IF_ERROR(file->allocate(0, geometry.file_bytes()));
  std::array<std::byte, kSegmentHeaderBytes> block{};
  encode_segment_header({.segment_bytes = options.segment_bytes,
                         .number = number,
                         .database_id = options.database_id},
                        block);
  RETURN_IF_ERROR(file->write_at(0, block));
  RETURN_IF_ERROR(file->sync());
  return files.sync_directory(options.directory);
}

}  // namespace swizzle::wal
