#include "wal/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace swizzle::wal {
namespace {

constexpr std::string_view kHistorySuffix = ".history";
constexpr std::size_t kHistoryDigits = 8;
constexpr std::uint64_t kLongestHistory = std::uint64_t{1} << 20U;

std::unexpected<Error> no_history(std::uint32_t timeline, std::string_view why) {
  return fail(sqlstate::data_corrupted,
              fmt::format("history file \"{}\" {}", TimelineHistory::file_name(timeline), why));
}

template <class Number>
bool take_number(std::string_view& text, Number& into, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_sign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

/// Parses a line of a history: number, tab, LSN as two hexadecimal halves with a slash between
/// them, tab, reason.
std::optional<TimelineEnd> parse_line(std::string_view line) {
  TimelineEnd found;
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  constexpr int kHexadecimal = 16;
  const bool is_good = take_number(line, found.timeline, 10) && take_sign(line, '\t') &&
                       take_number(line, high, kHexadecimal) && take_sign(line, '/') &&
                       take_number(line, low, kHexadecimal);
  if (!is_good) return std::nullopt;
  found.end = Lsn{(std::uint64_t{high} << 32U) | low};
  return found;
}

}  // namespace

std::string TimelineHistory::file_name(std::uint32_t timeline) {
  return fmt::format("{:08X}{}", timeline, kHistorySuffix);
}

Result<TimelineHistory> TimelineHistory::parse(std::uint32_t timeline, std::string_view text) {
  TimelineHistory history;
  history.timeline_ = timeline;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const auto end = parse_line(line);
    if (!end) return no_history(timeline, "has a line that is none");
    const bool ascends =
        history.older_.empty() ||
        (history.older_.back().timeline < end->timeline && history.older_.back().end <= end->end);
    if (!ascends || end->timeline >= timeline) return no_history(timeline, "is out of order");
    history.older_.push_back(*end);
  }
  if (timeline > 1 && history.older_.empty()) return no_history(timeline, "is empty");
  return history;
}

Result<TimelineHistory> TimelineHistory::read(FileSystem& files,
                                              const std::filesystem::path& directory,
                                              std::uint32_t timeline) {
  if (timeline == 1) return TimelineHistory{};
  ASSIGN_OR_RETURN(const auto file,
                   files.open(directory / file_name(timeline), OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size > kLongestHistory) return no_history(timeline, "is too long");
  std::string text(size, '\0');
  RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
  return parse(timeline, text);
}

Result<> TimelineHistory::write(FileSystem& files, const std::filesystem::path& directory) const {
  if (timeline_ == 1) return {};
  const auto path = directory / file_name(timeline_);
  auto unfinished = path;
  unfinished += ".tmp";
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, as_bytes(text())));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files.rename(unfinished, path));
  return files.sync_directory(directory);
}

TimelineHistory TimelineHistory::next(Lsn end) const {
  TimelineHistory later = *this;
  later.older_.push_back({timeline_, end});
  later.timeline_ = timeline_ + 1;
  return later;
}

std::optional<Lsn> TimelineHistory::end_of(std::uint32_t timeline) const noexcept {
  if (timeline == timeline_) return Lsn::max;
  const auto found = std::ranges::find(older_, timeline, &TimelineEnd::timeline);
  return found == older_.end() ? std::nullopt : std::optional{found->end};
}

std::string TimelineHistory::text() const {
  std::string text;
  for (const TimelineEnd& older : older_) {
    text += fmt::format("{}\t{:X}/{:X}\tpromoted\n", older.timeline, raw(older.end) >> 32U,
                        raw(older.end) & UINT32_MAX);
  }
  return text;
}

Result<std::uint32_t> TimelineHistory::newest(FileSystem& files,
                                              const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  std::uint32_t newest = 1;
  for (const std::string& name : names) {
    if (name.size() != kHistoryDigits + kHistorySuffix.size() || !name.ends_with(kHistorySuffix))
      continue;
    std::uint32_t number = 0;
    std::string_view digits = std::string_view{name}.substr(0, kHistoryDigits);
    constexpr int kHexadecimal = 16;
    if (take_number(digits, number, kHexadecimal) && digits.empty())
      newest = std::max(newest, number);
  }
  return newest;
}

}  // namespace swizzle::wal
