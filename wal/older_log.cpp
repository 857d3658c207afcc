#include "wal/older_log.h"

#include <array>
#include <string>

#include "base/invariant.h"
#include "wal/internal/log_restore.h"
#include "wal/internal/log_scan.h"
#include "wal/internal/segment_store.h"

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
