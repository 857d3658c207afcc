#include "wal/internal/log_restore.h"

#include <fmt/format.h>

#include "base/memory/aligned_buffer.h"
#include "wal/internal/segment_store.h"
#include "wal/older_log.h"

namespace swizzle::wal {

Result<SegmentHeader> check_restored(FileSystem& files, const std::filesystem::path& path,
                                     const LogOptions& options, std::uint64_t number) {
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  AlignedBuffer block{kSegmentHeaderBytes};
  if (size < kSegmentHeaderBytes) {
    return fail(sqlstate::data_corrupted, fmt::format("the archive's segment \"{}\" has {} bytes",
                                                      segment_name(number), size));
  }
  RETURN_IF_ERROR(file->read_at(0, block.bytes()));
  ASSIGN_OR_RETURN(
      const auto header,
      decode_segment_header(block.bytes().first<kSegmentHeaderBytes>(), segment_name(number)));
  if (header.number != number || header.database_id != options.database_id ||
      size != SegmentGeometry{header.segment_bytes}.file_bytes()) {
    return fail(sqlstate::data_corrupted,
                fmt::format("what the archive gives for segment \"{}\" is segment {:x} of database "
                            "{:016x}, {} bytes long",
                            segment_name(number), header.number, header.database_id, size));
  }
  RETURN_IF_ERROR(file->sync());
  return header;
}

Result<> restore_segments(FileSystem& files, const LogOptions& options, Lsn from) {
  std::uint64_t segment_bytes = options.segment_bytes;
  ASSIGN_OR_RETURN(const auto existing, list_segments(files, options.directory));
  if (!existing.empty()) {
    ASSIGN_OR_RETURN(const auto header,
                     read_segment_header(files, options.directory, existing.back()));
    segment_bytes = header.segment_bytes;
  }
  for (std::uint64_t number = SegmentGeometry{segment_bytes}.number_of(raw(from));; ++number) {
    ASSIGN_OR_RETURN(const bool found, fetch_segment(files, options, number));
    if (!found) {
      // The copy has these segments; only its last one was cut where the copy ended.
      if (!existing.empty() && number < existing.back()) continue;
      return {};
    }
    RETURN_IF_ERROR(files.sync_directory(options.directory));
  }
}

}  // namespace swizzle::wal
