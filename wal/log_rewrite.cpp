#include "wal/log_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "wal/internal/archiver.h"
#include "wal/internal/segment.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 20U;
constexpr std::uint64_t kLeastRecordBytes = 2 * kRecordAlignment;
constexpr std::uint64_t kFillerBytes = std::uint64_t{64} << 10U;

}  // namespace

LogRewriter::LogRewriter(FileSystem& files, const LogOptions& options, RecordKind filler)
    : files_(&files),
      directory_(options.directory),
      segment_bytes_(options.segment_bytes),
      database_id_(options.database_id),
      filler_(filler) {}

Result<LogRewriter> LogRewriter::begin(FileSystem& files, const LogOptions& options, Lsn from,
                                       RecordKind filler) {
  LogRewriter rewriter(files, options, filler);
  const SegmentGeometry geometry{options.segment_bytes};
  rewriter.position_ = geometry.first_lsn(geometry.number_of(raw(from)));
  // A gap that is too short for a record can only be at the very start of the log.
  if (raw(from) - rewriter.position_ >= kLeastRecordBytes) RETURN_IF_ERROR(rewriter.fill_to(from));
  INVARIANT(rewriter.position_ <= raw(from));
  rewriter.position_ = raw(from);
  return rewriter;
}

Result<> LogRewriter::append(const Record& record) {
  INVARIANT(raw(record.lsn) == position_);
  EncodedHeader header;
  encode_header(record.header, header);
  const std::size_t bytes = record_bytes(header, record.payload.size());
  // The same encoder wrote it, unless a version of the program used another one.
  if (position_ + bytes != raw(record.end))
    return fail(sqlstate::feature_not_supported,
                fmt::format("the log record at LSN {} has an encoding of another version",
                            raw(record.lsn)));
  if (buffer_.size() + bytes > kBuffered) RETURN_IF_ERROR(write_buffered());
  const std::size_t at = buffer_.size();
  buffer_.resize(at + bytes);
  const std::uint64_t head = write_body(buffer_.data() + at, header, {&record.payload, 1}, bytes,
                                        record.lsn, database_id_);
  store(buffer_.data() + at, head);
  position_ += bytes;
  return {};
}

Result<> LogRewriter::fill_to(Lsn lsn) {
  RETURN_IF_ERROR(write_buffered());
  while (position_ < raw(lsn)) {
    const std::uint64_t left = raw(lsn) - position_;
    std::uint64_t bytes = std::clamp(left, kLeastRecordBytes, kFillerBytes);
    // Leave room for another record.
    if (left > bytes && left - bytes < kLeastRecordBytes) bytes -= kRecordAlignment;
    RETURN_IF_ERROR(append_filler(bytes));
  }
  return {};
}

/// Writes both ends of the record: the segment's allocated blocks read as the zeros between them.
Result<> LogRewriter::append_filler(std::uint64_t bytes) {
  RecordHeader header;
  header.kind = filler_;
  EncodedHeader encoded;
  encode_header(header, encoded);
  const std::vector<std::byte> zeros(bytes - encoded.size - kTrailerBytes);
  std::vector<std::byte> record(bytes);
  const Bytes payload{zeros};
  const std::uint64_t head =
      write_body(record.data(), encoded, {&payload, 1}, bytes, Lsn{position_}, database_id_);
  store(record.data(), head);
  const Bytes whole{record};
  RETURN_IF_ERROR(write(position_, whole.first(kLeastRecordBytes)));
  RETURN_IF_ERROR(
      write(position_ + bytes - kRecordAlignment, whole.subspan(bytes - kRecordAlignment)));
  position_ += bytes;
  return {};
}

Result<> LogRewriter::write_buffered() {
  if (buffer_.empty()) return {};
  RETURN_IF_ERROR(write(position_ - buffer_.size(), buffer_));
  buffer_.clear();
  return {};
}

Result<> LogRewriter::write(std::uint64_t at, Bytes bytes) {
  const SegmentGeometry geometry{segment_bytes_};
  while (!bytes.empty()) {
    RETURN_IF_ERROR(open_segment(geometry.number_of(at)));
    const std::size_t part = std::min<std::uint64_t>(bytes.size(), geometry.end_of(at) - at);
    RETURN_IF_ERROR(file_->write_at(geometry.file_offset(at), bytes.first(part)));
    at += part;
    bytes = bytes.subspan(part);
  }
  return {};
}

/// Makes the segments up to `number`. A record may be longer than a segment.
Result<> LogRewriter::open_segment(std::uint64_t number) {
  while (file_ == nullptr || number_ < number) {
    const std::uint64_t next = file_ == nullptr ? number : number_ + 1;
    if (file_ != nullptr) RETURN_IF_ERROR(file_->sync());
    ASSIGN_OR_RETURN(file_,
                     files_->open(directory_ / segment_name(next), OpenMode::create_new, {}));
    RETURN_IF_ERROR(file_->allocate(0, SegmentGeometry{segment_bytes_}.file_bytes()));
    std::array<std::byte, kSegmentHeaderBytes> block{};
    encode_segment_header(
        {.segment_bytes = segment_bytes_, .number = next, .database_id = database_id_}, block);
    RETURN_IF_ERROR(file_->write_at(0, block));
    number_ = next;
  }
  return {};
}

Result<> LogRewriter::flush() {
  RETURN_IF_ERROR(write_buffered());
  if (file_ != nullptr) RETURN_IF_ERROR(file_->sync());
  return files_->sync_directory(directory_);
}

Result<> LogRewriter::finish() {
  RETURN_IF_ERROR(write_buffered());
  const std::uint64_t last = SegmentGeometry{segment_bytes_}.number_of(position_);
  RETURN_IF_ERROR(open_segment(last));
  RETURN_IF_ERROR(flush());
  return store_archived_position(*files_, directory_, database_id_, last);
}

}  // namespace swizzle::wal
