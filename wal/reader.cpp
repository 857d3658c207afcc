#include "wal/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "wal/internal/log_window.h"
#include "wal/internal/segment_store.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kSequentialChunk = std::size_t{2} << 20U;

LogWindow window_for(LogLocation location, ReadPattern pattern) {
  constexpr std::size_t kRandomChunk = std::size_t{16} << 10U;
  constexpr std::size_t kNearChunk = std::size_t{512} << 10U;
  if (pattern == ReadPattern::sequential) return {std::move(location), kSequentialChunk};
  return {std::move(location), kRandomChunk, kNearChunk};
}

std::unexpected<Error> no_record(const LogLocation& location, std::uint64_t at, Decoding found) {
  const auto name = segment_name(SegmentGeometry{location.segment_bytes}.number_of(at));
  if (found == Decoding::needs_more) {
    return fail(sqlstate::undefined_file,
                fmt::format("the log cannot be read from LSN {} on: segment \"{}\", or the one "
                            "behind it, is missing in \"{}\"",
                            at, name, location.directory.native()));
  }
  return fail(sqlstate::data_corrupted,
              fmt::format("the log is damaged at LSN {}, in segment \"{}\"", at, name));
}

}  // namespace

struct Reader::State {
  LogWindow window;
  std::uint64_t position = 0;
  std::uint64_t end = 0;

  void pass_over_gap() noexcept {
    const auto& older = window.location().older;
    if (older && position >= raw(older->end)) position = std::max(position, raw(older->resumes_at));
  }
  void pass_back_over_gap() noexcept {
    const auto& older = window.location().older;
    if (older && position == raw(older->resumes_at)) position = raw(older->end);
  }
};

Reader::Reader(LogLocation location, Lsn end, ReadPattern pattern)
    : state_(
          std::make_unique<State>(State{window_for(std::move(location), pattern), 0, raw(end)})) {
  state_->window.set_limit(raw(end));
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::seek(Lsn at) noexcept {
  state_->position = raw(at);
}
Lsn Reader::position() const noexcept {
  return Lsn{state_->position};
}
Lsn Reader::end() const noexcept {
  return Lsn{state_->end};
}

void Reader::extend_to(Lsn end) noexcept {
  state_->end = raw(end);
  state_->window.set_limit(raw(end));
}

Result<std::optional<Record>> Reader::next() {
  state_->pass_over_gap();
  if (state_->position >= state_->end) return std::optional<Record>{};
  ASSIGN_OR_RETURN(const Record record, read(Lsn{state_->position}));
  return std::optional{record};
}

Result<Record> Reader::read(Lsn at) {
  Record record;
  ASSIGN_OR_RETURN(const Decoding found, state_->window.decode_at(raw(at), record));
  if (found != Decoding::record) return no_record(state_->window.location(), raw(at), found);
  if (raw(record.end) > state_->end) {
    return fail(sqlstate::data_corrupted,
                fmt::format("the log record at LSN {} reaches behind the log's end at {}", raw(at),
                            state_->end));
  }
  state_->position = raw(record.end);
  return record;
}

Result<std::optional<Record>> Reader::previous() {
  auto& window = state_->window;
  state_->pass_back_over_gap();
  const std::uint64_t end = state_->position;
  if (end < kTrailerBytes) return std::optional<Record>{};
  ASSIGN_OR_RETURN(const Bytes trailer, window.bytes_backward(end - kTrailerBytes, kTrailerBytes));
  if (trailer.size() < kTrailerBytes) return std::optional<Record>{};
  const std::uint64_t length = load<std::uint16_t>(trailer.data()) * kRecordAlignment;
  if (length == 0 || length > end) return no_record(window.location(), end, Decoding::invalid);
  const std::uint64_t start = end - length;
  // Load preceding bytes as well, for the next calls.
  ASSIGN_OR_RETURN(const Bytes whole, window.bytes_backward(start, length));
  if (whole.size() < length) return std::optional<Record>{};
  Record record;
  const Decoding found = decode(whole, Lsn{start}, window.database_id_at(start), record);
  if (found != Decoding::record || raw(record.end) != end) {
    return no_record(window.location(), start, Decoding::invalid);
  }
  state_->position = start;
  return std::optional{record};
}

Result<LogLocation> find_log(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto numbers, list_segments(files, directory));
  if (numbers.empty()) {
    return fail(sqlstate::undefined_file,
                fmt::format("there is no log segment in \"{}\"", directory.native()));
  }
  // Skip a damaged old segment: it may not be needed. A reader that needs it gets the error.
  std::optional<Error> first;
  for (const std::uint64_t number : numbers) {
    auto header = read_segment_header(files, directory, number);
    if (header)
      return LogLocation{.files = &files,
                         .directory = directory,
                         .segment_bytes = header->segment_bytes,
                         .database_id = header->database_id};
    if (!first) first = std::move(header).error();
  }
  return fail(std::move(*first));
}

Result<std::optional<Lsn>> find_record(const LogLocation& location, Lsn from) {
  ASSIGN_OR_RETURN(const auto numbers, list_segments(*location.files, location.directory));
  if (numbers.empty()) return std::optional<Lsn>{};
  const SegmentGeometry geometry{location.segment_bytes};
  LogWindow window{location, kSequentialChunk};
  ASSIGN_OR_RETURN(const auto found,
                   window.search(std::max(raw(from), geometry.first_lsn(numbers.front())),
                                 geometry.first_lsn(numbers.back() + 1)));
  return found ? std::optional{found->lsn} : std::optional<Lsn>{};
}

}  // namespace swizzle::wal
