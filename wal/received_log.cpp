#include "wal/received_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/invariant.h"
#include "base/memory/aligned_buffer.h"
#include "wal/internal/flusher.h"
#include "wal/internal/log_restore.h"
#include "wal/internal/log_scan.h"
#include "wal/internal/log_window.h"
#include "wal/internal/segment.h"
#include "wal/internal/segment_store.h"
#include "wal/log.h"
#include "wal/timeline.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kReceivedChunk = std::size_t{2} << 20U;

LogLocation location_of(FileSystem& files, const LogOptions& options) {
  return {&files, options.directory, options.segment_bytes, options.database_id};
}

/// Unlike a restart of the log itself, ignores bytes after the last whole record: the sender has
/// them all, and a flush mark tells what was durable at the sender, not here.
Result<LogEnd> whole_end(const LogLocation& location, Lsn from) {
  ASSIGN_OR_RETURN(LogEnd found, check_segments(location, raw(from)));
  LogWindow window{location, kReceivedChunk};
  const std::uint64_t limit = window.geometry().first_lsn(found.last_segment + 1);
  Record record;
  found.end = raw(from);
  while (found.end < limit) {
    ASSIGN_OR_RETURN(const Decoding decoding, window.decode_at(found.end, record));
    if (decoding != Decoding::record) break;
    found.end = raw(record.end);
  }
  return found;
}

}  // namespace

ReceivedLog::~ReceivedLog() = default;

Result<std::unique_ptr<ReceivedLog>> ReceivedLog::open(FileSystem& files, const LogOptions& options,
                                                       Lsn from, std::uint32_t timeline) {
  std::unique_ptr<ReceivedLog> log{new ReceivedLog{files, options, timeline}};
  RETURN_IF_ERROR(log->find_end(from));
  return log;
}

Result<Lsn> ReceivedLog::find_whole_end(FileSystem& files, const LogOptions& options, Lsn from) {
  ASSIGN_OR_RETURN(const LogEnd found, whole_end(location_of(files, options), from));
  return Lsn{found.end};
}

Result<> ReceivedLog::find_end(Lsn from) {
  ASSIGN_OR_RETURN(const LogEnd found, whole_end(location_of(files_, options_), from));
  RETURN_IF_ERROR(repair_tail(location_of(files_, options_), found));
  end_.store(found.end, std::memory_order_release);
  durable_.store(found.end, std::memory_order_release);
  return {};
}

Result<> ReceivedLog::make_segment(std::uint64_t number) {
  const auto unfinished = options_.directory / "segment.tmp";
  {
    ASSIGN_OR_RETURN(const auto file, files_.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    auto allocated = file->allocate(0, SegmentGeometry{options_.segment_bytes}.file_bytes());
    if (!allocated) {
      static_cast<void>(files_.remove(unfinished));
      return allocated;
    }
    std::array<std::byte, kSegmentHeaderBytes> block{};
    encode_segment_header({options_.segment_bytes, number, options_.database_id, timeline_}, block);
    RETURN_IF_ERROR(file->write_at(0, block));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files_.rename(unfinished, options_.directory / segment_name(number)));
  return files_.sync_directory(options_.directory);
}

Result<> ReceivedLog::open_segment(std::uint64_t number) {
  if (file_ && number_ == number) return {};
  if (file_) RETURN_IF_ERROR(file_->sync());
  file_.reset();
  const auto path = options_.directory / segment_name(number);
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  if (!exists) RETURN_IF_ERROR(make_segment(number));
  ASSIGN_OR_RETURN(file_, files_.open(path, OpenMode::read_write, {}));
  number_ = number;
  return {};
}

Result<> ReceivedLog::append(Bytes bytes) {
  const SegmentGeometry geometry{options_.segment_bytes};
  while (!bytes.empty()) {
    const std::uint64_t at = end_.load(std::memory_order_relaxed);
    // Half of the distance in which a restart searches for remains of an interrupted write.
    constexpr std::uint64_t kMostInDoubt = kMaxUndurableBytes / 2;
    const std::uint64_t in_doubt = at - durable_.load(std::memory_order_relaxed);
    if (in_doubt >= kMostInDoubt) RETURN_IF_ERROR(flush());
    RETURN_IF_ERROR(open_segment(geometry.number_of(at)));
    const std::size_t part =
        std::min<std::uint64_t>({bytes.size(), geometry.end_of(at) - at, kMostInDoubt});
    RETURN_IF_ERROR(file_->write_at(geometry.file_offset(at), bytes.first(part)));
    end_.store(at + part, std::memory_order_release);
    bytes = bytes.subspan(part);
  }
  return {};
}

/// Appends the rest of the archive's segment that has end(), without a look at its records.
Result<bool> ReceivedLog::append_archived(const RestoreSegment& archive,
                                          const TimelineHistory& history) {
  const SegmentGeometry geometry{options_.segment_bytes};
  const std::uint64_t begin = raw(end());
  const std::uint64_t number = geometry.number_of(begin);
  const auto path = options_.directory / "restored.tmp";
  ASSIGN_OR_RETURN(const bool is_there, archive(segment_name(number), path));
  if (!is_there) return false;
  ASSIGN_OR_RETURN(const SegmentHeader header, check_restored(files_, path, options_, number));
  // Its bytes belong to this log up to where that timeline was left.
  const auto timeline_end = history.end_of(header.timeline);
  if (!timeline_end) {
    spdlog::warn(
        "the archive's segment \"{}\" is of timeline {}, which is not in the history of "
        "timeline {}",
        segment_name(number), header.timeline, history.timeline());
  }
  const std::uint64_t limit =
      timeline_end ? std::min(geometry.end_of(begin), raw(*timeline_end)) : begin;
  {
    ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::read_only, {}));
    AlignedBuffer chunk{kReceivedChunk};
    for (std::uint64_t at = begin; at < limit;) {
      const std::size_t size = std::min<std::uint64_t>(limit - at, kReceivedChunk);
      const auto bytes = chunk.bytes().first(size);
      RETURN_IF_ERROR(file->read_at(geometry.file_offset(at), bytes));
      RETURN_IF_ERROR(append(bytes));
      at += size;
    }
  }
  RETURN_IF_ERROR(files_.remove(path));
  RETURN_IF_ERROR(flush());
  return raw(end()) == geometry.end_of(begin);
}

Result<bool> ReceivedLog::restore(const RestoreSegment& archive, const TimelineHistory& history,
                                  const std::function<Lsn()>& from) {
  const Lsn before = end();
  for (;;) {
    ASSIGN_OR_RETURN(const bool goes_on, append_archived(archive, history));
    if (!goes_on) break;
  }
  if (end() == before) return false;
  // A copy of a segment that was not finished has something else behind its records.
  ASSIGN_OR_RETURN(const Lsn whole, cut(from()));
  return whole > before;
}

Result<> ReceivedLog::flush() {
  const std::uint64_t end = end_.load(std::memory_order_relaxed);
  if (durable_.load(std::memory_order_relaxed) == end) return {};
  if (file_) RETURN_IF_ERROR(file_->sync());
  durable_.store(end, std::memory_order_release);
  return {};
}

Result<ReceivedLog::Whole> ReceivedLog::read(Lsn from, std::uint64_t most,
                                             OpeningVisitor* visitor) const {
  LogWindow window{location_of(files_, options_), kReceivedChunk};
  const std::uint64_t end = raw(durable());
  const std::uint64_t limit = std::min(end, raw(from) + most);
  window.set_limit(end);
  if (visitor != nullptr) visitor->begin(from, Lsn{limit});
  // The newest record read; it is visited once another one follows.
  std::optional<Record> last;
  std::vector<std::byte> payload;
  Record record;
  for (std::uint64_t at = raw(from); at < limit; at = raw(record.end)) {
    ASSIGN_OR_RETURN(const Decoding decoding, window.decode_at(at, record));
    if (decoding != Decoding::record || raw(record.end) > end) break;
    if (visitor != nullptr && last) visitor->visit(*last);
    last = record;
    if (visitor == nullptr) continue;
    // Copy the payload, because the window moves.
    payload.assign(record.payload.begin(), record.payload.end());
    last->payload = payload;
  }
  if (!last) return Whole{from, from};
  return Whole{last->lsn, last->header.kind == RecordKind::flush_mark ? last->end : last->lsn};
}

Result<Lsn> ReceivedLog::cut(Lsn from) {
  RETURN_IF_ERROR(flush());
  file_.reset();
  RETURN_IF_ERROR(find_end(from));
  return end();
}

Result<> ReceivedLog::release_before(Lsn lsn) {
  const SegmentGeometry geometry{options_.segment_bytes};
  ASSIGN_OR_RETURN(const auto numbers, list_segments(files_, options_.directory));
  for (const std::uint64_t number : numbers) {
    if (geometry.first_lsn(number + 1) > raw(lsn)) break;
    RETURN_IF_ERROR(files_.remove(options_.directory / segment_name(number)));
  }
  return {};
}

}  // namespace swizzle::wal
