#include "wal/log_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/memory/aligned_buffer.h"
#include "wal/internal/segment.h"
#include "wal/internal/segment_store.h"
#include "wal/older_segments.h"

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

Result<std::unique_ptr<File>> open_source(const LogLocation& location, std::uint64_t number) {
  const SegmentGeometry geometry{location.segment_bytes};
  const auto& older = location.older;
  if (older && older->segments && geometry.first_lsn(number) < raw(older->resumes_at)) {
    ASSIGN_OR_RETURN(auto segment, older->segments->open_segment(number));
    if (segment) return segment;
    return fail(sqlstate::undefined_file,
                fmt::format("log segment \"{}\" is missing", segment_name(number)));
  }
  RETURN_IF_ERROR(read_segment_header(*location.files, location.directory, number));
  return location.files->open(location.directory / segment_name(number), OpenMode::read_only,
                              {.direct = true});
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
    ASSIGN_OR_RETURN(const auto source, open_source(location, number));
    ASSIGN_OR_RETURN(const auto copy, files.open(directory / segment_name(number),
                                                 OpenMode::create_new, {.direct = true}));
    const Content content{.begin = raw(from) > first ? raw(from) - first : 0,
                          .end = is_last ? raw(end) - first : geometry.bytes()};
    RETURN_IF_ERROR(copy_segment(*source, *copy, geometry, content, segments));
  }
  return files.sync_directory(directory);
}

}  // namespace swizzle::wal
