#include "wal/log_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/memory/aligned_buffer.h"
#include "wal/internal/segment.h"
#include "wal/internal/segment_store.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kPortion = std::size_t{1} << 20U;

// Part of a segment's content.
struct Content {
  std::uint64_t begin;
  std::uint64_t end;
};

// The header and the content; zeros around it if the copy is to be a whole segment.
Result<> copy_segment(File& from, File& to, const SegmentGeometry& geometry, Content content,
                      CopiedSegments segments) {
  AlignedBuffer buffer{kPortion};
  const bool is_whole = segments == CopiedSegments::whole;
  const std::uint64_t wanted = kSegmentHeaderBytes + content.end;
  const std::uint64_t begin = is_whole ? 0 : block_floor(kSegmentHeaderBytes + content.begin);
  if (!is_whole) {
    RETURN_IF_ERROR(from.read_at(0, buffer.bytes().first(kSegmentHeaderBytes)));
    RETURN_IF_ERROR(to.write_at(0, buffer.bytes().first(kSegmentHeaderBytes)));
  }
  const std::uint64_t end = is_whole ? geometry.file_bytes() : block_ceiling(wanted);
  for (std::uint64_t at = begin; at < end; at += kPortion) {
    const std::uint64_t portion = std::min<std::uint64_t>(kPortion, end - at);
    const std::uint64_t valid = at < wanted ? std::min(wanted - at, portion) : 0;
    // Blocks after the end may be changing; they are not read.
    const auto blocks = static_cast<std::size_t>(block_ceiling(valid));
    if (blocks > 0) RETURN_IF_ERROR(from.read_at(at, buffer.bytes().first(blocks)));
    std::memset(buffer.bytes().data() + valid, 0, static_cast<std::size_t>(portion - valid));
    RETURN_IF_ERROR(to.write_at(at, buffer.bytes().first(static_cast<std::size_t>(portion))));
  }
  return to.sync();
}

/// A restored database may use the archive of the one before it. A damaged header counts as ours.
Result<bool> is_of_log(FileSystem& files, const std::filesystem::path& path,
                       std::uint64_t database_id) {
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size < kSegmentHeaderBytes) return true;
  std::array<std::byte, kSegmentHeaderBytes> block{};
  RETURN_IF_ERROR(file->read_at(0, block));
  const auto header = decode_segment_header(block, path.native());
  return !header || header->database_id == database_id;
}

}  // namespace

Result<> copy_log(const LogLocation& location, Lsn from, Lsn end, FileSystem& files,
                  const std::filesystem::path& directory, CopiedSegments segments) {
  const SegmentGeometry geometry{location.segment_bytes};
  for (std::uint64_t number = geometry.number_of(raw(from)); number <= geometry.number_of(raw(end));
       ++number) {
    const std::uint64_t first = geometry.first_lsn(number);
    const bool is_last = number == geometry.number_of(raw(end));
    // An end between two segments: the one after it may not exist yet.
    if (is_last && first == raw(end) && number != geometry.number_of(raw(from))) break;
    RETURN_IF_ERROR(read_segment_header(*location.files, location.directory, number));
    const std::string name = segment_name(number);
    ASSIGN_OR_RETURN(auto source, location.files->open(location.directory / name,
                                                       OpenMode::read_only, {.direct = true}));
    ASSIGN_OR_RETURN(auto copy,
                     files.open(directory / name, OpenMode::create_new, {.direct = true}));
    const Content content{.begin = raw(from) > first ? raw(from) - first : 0,
                          .end = is_last ? raw(end) - first : geometry.bytes()};
    RETURN_IF_ERROR(copy_segment(*source, *copy, geometry, content, segments));
  }
  return files.sync_directory(directory);
}

Result<std::optional<std::string>> find_segment_behind_gap(const RestoreSegment& archive,
                                                           const LogLocation& log, Lsn end,
                                                           FileSystem& files,
                                                           const std::filesystem::path& scratch) {
  constexpr std::uint64_t kLooksAhead = 8;
  const auto has = [&](std::uint64_t number) -> Result<bool> {
    ASSIGN_OR_RETURN(const bool found, archive(segment_name(number), scratch));
    if (!found) return false;
    auto is_ours = is_of_log(files, scratch, log.database_id);
    RETURN_IF_ERROR(files.remove(scratch));
    return is_ours;
  };
  std::uint64_t missing = SegmentGeometry{log.segment_bytes}.number_of(raw(end));
  ASSIGN_OR_RETURN(const bool has_end, has(missing));
  if (has_end) {
    ASSIGN_OR_RETURN(const bool has_next, has(++missing));
    // The log ends here; the next segment was prepared for it.
    if (has_next) return std::nullopt;
  }
  for (std::uint64_t number = missing + 1; number <= missing + kLooksAhead; ++number) {
    ASSIGN_OR_RETURN(const bool found, has(number));
    if (found) return segment_name(number);
  }
  return std::nullopt;
}

}  // namespace swizzle::wal
