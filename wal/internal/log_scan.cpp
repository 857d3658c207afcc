#include "wal/internal/log_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "base/memory/aligned_buffer.h"
#include "wal/internal/flusher.h"
#include "wal/internal/log_window.h"
#include "wal/internal/segment_store.h"
#include "wal/log.h"
#include "wal/older_segments.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kScanChunk = std::size_t{2} << 20U;

bool proves_durable(const Record& record, std::uint64_t place) {
  if (raw(record.lsn) >= place + kMaxUndurableBytes) return true;
  return record.header.kind == RecordKind::flush_mark &&
         record.payload.size() == sizeof(std::uint64_t) &&
         load<std::uint64_t>(record.payload.data()) > place;
}

// Searches [from, limit) for records that were written after `place` was durable.
Result<> refuse_damage_in(LogWindow& window, std::uint64_t place, std::uint64_t from,
                          std::uint64_t limit) {
  for (std::uint64_t at = from; at < limit;) {
    ASSIGN_OR_RETURN(const auto found, window.search(at, limit));
    if (!found) return {};
    if (proves_durable(*found, place)) {
      return fail(
          sqlstate::data_corrupted,
          fmt::format("the log is damaged at LSN {}, in segment \"{}\": what it held was "
                      "durable, and the record at LSN {} is later",
                      place, segment_name(window.geometry().number_of(place)), raw(found->lsn)));
    }
    at = raw(found->end);
  }
  return {};
}

// Searches after the end of the run for records that were written after it was durable: in the
// rest of its segment and at the beginning of each later one. A segment that has been written to
// has a record there, because no record is longer. Most later segments are only prepared, and
// reading them whole would take longer than reading the log.
Result<> refuse_damage(LogWindow& window, std::uint64_t place, std::uint64_t limit) {
  const SegmentGeometry& geometry = window.geometry();
  std::uint64_t end = std::min(geometry.end_of(place), limit);
  RETURN_IF_ERROR(refuse_damage_in(window, place, place, end));
  while (end < limit) {
    const std::uint64_t begin = end;
    end = geometry.end_of(begin);
    const std::uint64_t looked_at = std::min(end, begin + kMaxRecordBytes + kWriteUnit);
    RETURN_IF_ERROR(refuse_damage_in(window, place, begin, looked_at));
  }
  return {};
}

Result<> restore_length(FileSystem& files, const std::filesystem::path& path,
                        const SegmentGeometry& geometry) {
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_write, {}));
  ASSIGN_OR_RETURN(std::uint64_t size, file->size());
  if (size >= geometry.file_bytes()) return {};
  const AlignedBuffer zeros{std::size_t{64} << 10U};
  while (size < geometry.file_bytes()) {
    const std::uint64_t part = std::min<std::uint64_t>(zeros.size(), geometry.file_bytes() - size);
    RETURN_IF_ERROR(file->write_at(size, zeros.bytes().first(part)));
    size += part;
  }
  return file->sync();
}

// Zeroes [end, limit) of the log. Its first block begins before `end`.
Result<> zero_behind(const LogLocation& location, std::uint64_t end, std::uint64_t limit) {
  const SegmentGeometry geometry{location.segment_bytes};
  AlignedBuffer memory{std::size_t{256} << 10U};
  for (std::uint64_t at = block_floor(end); at < limit;) {
    const std::uint64_t segment_end = std::min(limit, geometry.end_of(at));
    ASSIGN_OR_RETURN(auto file,
                     location.files->open(location.directory / segment_name(geometry.number_of(at)),
                                          OpenMode::read_write, {.direct = true}));
    while (at < segment_end) {
      const auto part = memory.bytes().first(std::min(memory.size(), segment_end - at));
      std::memset(part.data(), 0, part.size());
      if (at < end) {
        RETURN_IF_ERROR(file->read_at(geometry.file_offset(at), part.first(kWriteUnit)));
        std::memset(part.data() + (end - at), 0, kWriteUnit - (end - at));
      }
      RETURN_IF_ERROR(file->write_at(geometry.file_offset(at), part));
      at += part.size();
    }
    RETURN_IF_ERROR(file->sync());
  }
  return {};
}

/// Segments of an older log are checked when they are opened.
Result<LogEnd> check_older_segments(const OlderLog& older, const SegmentGeometry& geometry,
                                    std::uint64_t from) {
  INVARIANT(older.segments);
  const std::uint64_t first = older.segments->first();
  const std::uint64_t end = older.segments->end();
  const std::uint64_t wanted = geometry.number_of(from);
  if (wanted < first || wanted >= end)
    return fail(sqlstate::undefined_file,
                fmt::format("log segment \"{}\" of the log from before the restore is missing",
                            segment_name(wanted)));
  LogEnd found;
  found.first_segment = first;
  found.last_segment = end - 1;
  return found;
}

}  // namespace

Result<LogEnd> check_segments(const LogLocation& location, std::uint64_t from) {
  const SegmentGeometry geometry{location.segment_bytes};
  if (location.older && from < raw(location.older->resumes_at))
    return check_older_segments(*location.older, geometry, from);
  ASSIGN_OR_RETURN(const auto numbers, list_segments(*location.files, location.directory));
  std::uint64_t wanted = geometry.number_of(from);
  LogEnd found;
  for (const std::uint64_t number : numbers) {
    if (number < geometry.number_of(from)) continue;
    if (number != wanted) break;
    ASSIGN_OR_RETURN(const auto header,
                     read_segment_header(*location.files, location.directory, number));
    if (header.database_id != location.database_id) {
      return fail(sqlstate::data_corrupted,
                  fmt::format("log segment \"{}\" belongs to another database ({:016x}, not "
                              "{:016x}); the log is needed from LSN {} on",
                              segment_name(number), header.database_id, location.database_id,
                              std::max(from, geometry.first_lsn(number))));
    }
    if (header.segment_bytes != location.segment_bytes) {
      return fail(sqlstate::data_corrupted,
                  fmt::format("log segment \"{}\" holds {} bytes and not {}", segment_name(number),
                              header.segment_bytes, location.segment_bytes));
    }
    ++wanted;
  }
  const bool later_exists = !numbers.empty() && numbers.back() >= wanted;
  if (wanted == geometry.number_of(from) || later_exists) {
    return fail(sqlstate::undefined_file,
                fmt::format("log segment \"{}\" is missing in \"{}\"; the log is needed from LSN "
                            "{} on",
                            segment_name(wanted), location.directory.native(),
                            std::max(from, geometry.first_lsn(wanted))));
  }
  found.first_segment = numbers.front();
  // There may be gaps below the start of the scan; segments below a gap are not needed.
  for (std::size_t at = numbers.size(); at-- > 1;) {
    if (numbers[at - 1] + 1 != numbers[at]) {
      found.first_segment = numbers[at];
      break;
    }
  }
  found.last_segment = wanted - 1;
  return found;
}

Result<LogEnd> find_end(const LogLocation& location, std::uint64_t from, OpeningVisitor* visitor) {
  ASSIGN_OR_RETURN(LogEnd found, check_segments(location, from));
  LogWindow window{location, kScanChunk};
  const std::uint64_t limit = window.geometry().first_lsn(found.last_segment + 1);
  Record record;
  found.end = from;
  if (visitor != nullptr) visitor->begin(Lsn{from}, Lsn{limit});
  while (found.end < limit) {
    ASSIGN_OR_RETURN(const Decoding decoding, window.decode_at(found.end, record));
    if (decoding != Decoding::record) break;
    found.end = raw(record.end);
    if (visitor == nullptr) continue;
    visitor->visit(record);
    if (!visitor->wants_more()) return found;
  }
  RETURN_IF_ERROR(refuse_damage(window, found.end, limit));
  return found;
}

Result<> repair_tail(const LogLocation& location, const LogEnd& end) {
  const SegmentGeometry geometry{location.segment_bytes};
  // Records that the interrupted run wrote without seeing them durable lie within this distance.
  // Their segments may not be on disk yet.
  const std::uint64_t unsure = end.end - std::min(end.end, kMaxUndurableBytes);
  const std::uint64_t first = std::max(end.first_segment, geometry.number_of(unsure));
  for (std::uint64_t number = first; number <= end.last_segment; ++number) {
    const auto path = location.directory / segment_name(number);
    if (geometry.first_lsn(number + 1) > end.end) {
      RETURN_IF_ERROR(restore_length(*location.files, path, geometry));
    }
    if (geometry.first_lsn(number) > end.end) continue;
    ASSIGN_OR_RETURN(auto file, location.files->open(path, OpenMode::read_write, {}));
    RETURN_IF_ERROR(file->sync());
  }
  const std::uint64_t limit = geometry.first_lsn(end.last_segment + 1);
  RETURN_IF_ERROR(
      zero_behind(location, end.end, std::min(limit, block_ceiling(end.end + kMaxUndurableBytes))));
  return location.files->sync_directory(location.directory);
}

}  // namespace swizzle::wal
