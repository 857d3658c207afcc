#include "wal/internal/log_window.h"

#include <algorithm>

#include "base/invariant.h"

namespace swizzle::wal {

namespace {

/// A small log has at most two segments, so larger chunks would be wasted.
std::size_t chunk_of(std::size_t wanted, const SegmentGeometry& geometry) noexcept {
  return block_ceiling(std::min<std::uint64_t>(wanted, 2 * geometry.bytes()));
}

}  // namespace

LogWindow::LogWindow(LogLocation location, std::size_t chunk_bytes, std::size_t near_bytes)
    : location_(std::move(location)),
      geometry_(location_.segment_bytes),
      chunk_bytes_(chunk_of(chunk_bytes, geometry_)),
      near_bytes_(chunk_of(near_bytes, geometry_)) {}

void LogWindow::set_limit(std::uint64_t limit) noexcept {
  end_ = std::max(start_, std::min(end_, block_floor(std::min(limit_, limit))));
  limit_ = limit;
}

Result<Bytes> LogWindow::bytes(std::uint64_t at, std::size_t size) {
  return bytes_ahead({at, size, size}, chunk_bytes_);
}

Result<Bytes> LogWindow::bytes_ahead(const Wanted& wanted, std::size_t chunk) {
  const std::uint64_t at = wanted.at;
  // Load only up to the written end: beside the writer, each small new record would otherwise cost
  // a whole chunk.
  const std::uint64_t begin = block_floor(at);
  const std::uint64_t written = std::max(limit_, at) - begin;
  const std::uint64_t ahead = written < chunk ? written + kRecordAlignment : chunk;
  return loaded(wanted, begin, std::max(at + wanted.size, begin + ahead));
}

Result<Bytes> LogWindow::bytes_backward(std::uint64_t at, std::size_t size) {
  const std::uint64_t to = block_ceiling(at + size);
  const std::uint64_t from = to - std::min<std::uint64_t>(to, chunk_bytes_);
  return loaded({at, size, size}, std::min(block_floor(at), from), to);
}

Result<Bytes> LogWindow::loaded(const Wanted& wanted, std::uint64_t load_from,
                                std::uint64_t load_to) {
  const auto [at, size, least] = wanted;
  // Nothing lies between an older log and the one that goes on from it.
  if (location_.older && at >= raw(location_.older->resumes_at))
    load_from = std::max(load_from, raw(location_.older->resumes_at));
  if (at < start_ || at + size > end_) {
    const auto [from, to] = without_absent(wanted, load_from, load_to);
    RETURN_IF_ERROR(load_range(from, to));
  }
  if (at < start_ || at >= end_) return Bytes{};
  return Bytes{memory_->data() + (at - start_), std::min<std::uint64_t>(size, end_ - at)};
}

/// Cuts off segments of an older log that would be fetched though no byte of them is needed.
std::pair<std::uint64_t, std::uint64_t> LogWindow::without_absent(const Wanted& wanted,
                                                                  std::uint64_t from,
                                                                  std::uint64_t to) const {
  if (!location_.older || !location_.older->segments) return {from, to};
  const auto is_absent = [this](std::uint64_t number) {
    return is_older(number) && !location_.older->segments->is_here(number);
  };
  const std::uint64_t first = geometry_.number_of(wanted.at);
  const std::uint64_t last = geometry_.number_of(wanted.at + wanted.least - 1);
  if (geometry_.number_of(from) < first && is_absent(first - 1)) from = geometry_.first_lsn(first);
  if (geometry_.number_of(to - 1) > last && is_absent(last + 1)) to = geometry_.first_lsn(last + 1);
  return {from, to};
}

Result<> LogWindow::load_range(std::uint64_t from, std::uint64_t to) {
  to = block_ceiling(to);
  if (!memory_ || memory_->size() < to - from) memory_.emplace(to - from);
  start_ = end_ = from;
  for (std::uint64_t at = from; at < to;) {
    const std::uint64_t stop = std::min(to, geometry_.end_of(at));
    ASSIGN_OR_RETURN(const bool exists, open_segment(geometry_.number_of(at)));
    if (exists) {
      RETURN_IF_ERROR(read_segment_part(at, {memory_->data() + (at - from), stop - at}));
      end_ = stop;
    } else if (at == start_) {
      start_ = end_ = stop;  // reading backward over the oldest segment's start
      from = stop;
    } else {
      break;
    }
    at = stop;
  }
  return {};
}

bool LogWindow::is_older(std::uint64_t number) const noexcept {
  const auto& older = location_.older;
  return older && number < geometry_.number_of(raw(older->resumes_at));
}

Result<bool> LogWindow::open_older_segment(std::uint64_t number) {
  if (!location_.older->segments) return false;
  ASSIGN_OR_RETURN(auto file, location_.older->segments->open_segment(number));
  if (!file) return false;
  ASSIGN_OR_RETURN(file_size_, file->size());
  file_ = std::move(file);
  file_number_ = number;
  return true;
}

Result<bool> LogWindow::open_segment(std::uint64_t number) {
  if (file_ && file_number_ == number) return true;
  file_.reset();
  if (is_older(number)) return open_older_segment(number);
  const auto path = location_.directory / segment_name(number);
  ASSIGN_OR_RETURN(const bool exists, location_.files->exists(path));
  if (!exists) return false;
  ASSIGN_OR_RETURN(file_, location_.files->open(path, OpenMode::read_only, {.direct = true}));
  ASSIGN_OR_RETURN(file_size_, file_->size());
  if (file_size_ < geometry_.file_bytes()) {
    // Open without direct I/O: the file may be truncated at any byte, and direct reads could not
    // reach the last ones.
    ASSIGN_OR_RETURN(file_, location_.files->open(path, OpenMode::read_only, {}));
  }
  file_number_ = number;
  return true;
}

Result<> LogWindow::read_segment_part(std::uint64_t at, MutableBytes into) {
  const std::uint64_t offset = geometry_.file_offset(at);
  const std::uint64_t available =
      std::min<std::uint64_t>(into.size(), file_size_ > offset ? file_size_ - offset : 0);
  std::memset(into.data() + available, 0, into.size() - available);
  if (available == 0) return {};
  return file_->read_at(offset, into.first(available));
}

Result<Bytes> LogWindow::bytes_of_record(const Wanted& wanted) {
  const auto [at, size, least] = wanted;
  // For records farther apart, separate chunks cost less than the bytes between them.
  constexpr std::uint64_t kNear = std::uint64_t{64} << 10U;
  const bool has_bytes = start_ != end_;
  if (has_bytes && at < start_ && start_ - at < kNear) {
    const std::uint64_t to = block_ceiling(std::max(at + size, start_));
    const std::uint64_t from = to - std::min<std::uint64_t>(to, near_bytes_);
    return loaded(wanted, std::min(block_floor(at), from), to);
  }
  const bool is_close_behind = has_bytes && at >= start_ && at - std::min(at, end_) < kNear;
  return bytes_ahead(wanted, is_close_behind ? near_bytes_ : chunk_bytes_);
}

Result<Decoding> LogWindow::decode_at(std::uint64_t at, Record& record) {
  constexpr std::size_t kProbe = 256;
  ASSIGN_OR_RETURN(Bytes there, bytes_of_record({at, kProbe, kRecordAlignment}));
  const auto first_try = decode(there, Lsn{at}, database_id_at(at), record);
  if (first_try != Decoding::needs_more) return first_try;
  const std::size_t size = raw(record.end) - at;
  ASSIGN_OR_RETURN(there, bytes_of_record({at, size, size}));
  return decode(there, Lsn{at}, database_id_at(at), record);
}

Result<Bytes> LogWindow::rest(std::uint64_t at) {
  const std::size_t loaded_already = at >= start_ && at < end_ ? end_ - at : kRecordAlignment;
  return bytes(at, std::max(loaded_already, kRecordAlignment));
}

Result<std::optional<Record>> LogWindow::search(std::uint64_t from, std::uint64_t limit) {
  constexpr std::uint64_t kMask = kRecordAlignment - 1;
  // Garbage may look like the beginning of long records again and again. After checksumming this
  // many bytes without success, try only short records.
  constexpr std::uint64_t kMostInVain = std::uint64_t{256} << 20U;
  constexpr std::size_t kShort = 4096;
  std::uint64_t in_vain = 0;
  Record record;
  for (std::uint64_t at = (from + kMask) & ~kMask; at < limit;) {
    ASSIGN_OR_RETURN(const Bytes there, rest(at));
    if (there.size() < kRecordAlignment) break;
    std::size_t zeros = 0;
    while (zeros + kRecordAlignment <= there.size() &&
           load<std::uint64_t>(there.data() + zeros) == 0) {
      zeros += kRecordAlignment;
    }
    at += zeros;
    if (zeros + kRecordAlignment > there.size()) continue;
    Decoding decoding{};
    if (in_vain < kMostInVain) {
      ASSIGN_OR_RETURN(decoding, decode_at(at, record));
    } else {
      ASSIGN_OR_RETURN(const Bytes probe, bytes(at, kShort));
      decoding =
          decode(probe.first(std::min(probe.size(), kShort)), Lsn{at}, database_id_at(at), record);
    }
    if (decoding == Decoding::record) return std::optional{record};
    if (decoding == Decoding::wrong_sum) in_vain += raw(record.end) - at;
    at += kRecordAlignment;
  }
  return std::optional<Record>{};
}

}  // namespace swizzle::wal
