#include "storage/standby/rewind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/memory/aligned_buffer.h"
#include "storage/engine_parts.h"
#include "storage/page/page.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/restore_state.h"
#include "storage/space/volume.h"
#include "wal/timeline.h"

namespace swizzle {
namespace {

constexpr std::size_t kBatchPages = 128;
constexpr SqlState kNotNow = sqlstate::object_not_in_prerequisite_state;

Result<std::string> read_text(FileSystem& files, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kLongest = 256;
  std::string text(std::min(size, kLongest), '\0');
  RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
  return text;
}

}  // namespace

Result<std::unique_ptr<Rewind>> Rewind::open(FileSystem& files,
                                             const std::filesystem::path& directory) {
  std::unique_ptr<Rewind> rewind{new Rewind{files, directory}};
  ASSIGN_OR_RETURN(const bool has_data, files.exists(directory / Volume::kFileName));
  if (!has_data)
    return fail(kNotNow, fmt::format("directory \"{}\" has no database", directory.native()));
  ASSIGN_OR_RETURN(rewind->lock_, files.lock(directory / Volume::kLockName));
  RETURN_IF_ERROR(rewind->read_state());
  return rewind;
}

Result<bool> Rewind::is_begun(FileSystem& files, const std::filesystem::path& directory) {
  return files.exists(directory / kRewindName);
}

Result<> Rewind::read_state() {
  ASSIGN_OR_RETURN(is_begun_, is_begun(files_, directory_));
  if (is_begun_) {
    // The control file may be gone, or the other server's.
    ASSIGN_OR_RETURN(const std::string text, read_text(files_, directory_ / kRewindName));
    std::istringstream words{text};
    std::uint64_t fork = 0;
    std::string end;
    if (!(words >> log_id_ >> timeline_ >> fork >> end) || end != "end" || fork == 0) {
      return fail(sqlstate::data_corrupted,
                  fmt::format("file \"{}\" is damaged", (directory_ / kRewindName).native()));
    }
    fork_ = Lsn{fork};
    return {};
  }
  RETURN_IF_ERROR(require_finished(files_, directory_));
  RETURN_IF_ERROR(require_restored(files_, directory_));
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files_, directory_));
  if (control->current().logging == Control::Logging::off)
    return fail(kNotNow, "a database without a log cannot be rewound");
  log_id_ = control->current().log_id;
  timeline_ = control->current().timeline;
  return {};
}

Result<> Rewind::part_from(std::uint32_t timeline, std::string_view history) {
  ASSIGN_OR_RETURN(const auto theirs, wal::TimelineHistory::parse(timeline, history));
  std::optional<Lsn> fork = theirs.end_of(timeline_);
  if (!is_begun_ && timeline == timeline_)
    return fail(Error{kNotNow, fmt::format("both servers are on timeline {}", timeline)}.with_hint(
        "No rewind is required: the directory can follow as it is."));
  if (!fork && !is_begun_) {
    // This one has been promoted itself: the newest timeline that both have been on.
    ASSIGN_OR_RETURN(const auto own,
                     wal::TimelineHistory::read(files_, directory_ / kLogDirectory, timeline_));
    for (const wal::TimelineEnd& older : own.older()) {
      const auto end = theirs.end_of(older.timeline);
      if (end) fork = std::min(*end, older.end);
    }
  }
  if (!fork && !is_begun_)
    return fail(kNotNow, fmt::format("the servers have no timeline in common: {} here, {} there",
                                     timeline_, timeline));
  if (!is_begun_) fork_ = *fork;
  if (is_begun_ && fork) fork_ = std::min(fork_, *fork);
  return {};
}

Result<> Rewind::write_marker() {
  // While a backup is unfinished nothing opens the directory.
  RETURN_IF_ERROR(mark_unfinished(files_, directory_));
  const auto path = directory_ / kRewindName;
  auto unfinished = path;
  unfinished += ".tmp";
  const std::string text = fmt::format("{} {} {} end\n", log_id_, timeline_, raw(fork_));
  {
    ASSIGN_OR_RETURN(const auto file, files_.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, as_bytes(text)));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files_.rename(unfinished, path));
  is_begun_ = true;
  return files_.sync_directory(directory_);
}

Result<> Rewind::clear(const std::filesystem::path& in) {
  ASSIGN_OR_RETURN(const auto names, files_.list(in));
  for (const std::string& name : names) RETURN_IF_ERROR(files_.remove(in / name));
  return files_.sync_directory(in);
}

/// The double-write area too, whose pages would be put in the place of copied ones, and the log.
Result<> Rewind::remove_others() {
  constexpr std::string_view kKept[] = {Volume::kFileName, Volume::kLockName, kUnfinishedName,
                                        kRewindName, kLogDirectory};
  ASSIGN_OR_RETURN(const auto names, files_.list(directory_));
  for (const std::string& name : names) {
    if (std::ranges::find(kKept, name) != std::end(kKept)) continue;
    auto removed = files_.remove(directory_ / name);
    // Directories have files of single runs only, and stay. A file that stays may be read again.
    if (!removed && !files_.list(directory_ / name)) return removed;
  }
  ASSIGN_OR_RETURN(const bool has_log, files_.exists(directory_ / kLogDirectory));
  if (has_log) RETURN_IF_ERROR(clear(directory_ / kLogDirectory));
  return files_.sync_directory(directory_);
}

Result<std::vector<Lsn>> Rewind::prepare(
    const std::function<void(std::uint64_t, std::uint64_t)>& told) {
  RETURN_IF_ERROR(write_marker());
  RETURN_IF_ERROR(remove_others());
  ASSIGN_OR_RETURN(const auto data,
                   files_.open(directory_ / Volume::kFileName, OpenMode::read_write, {}));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, data->size());
  std::vector<Lsn> kept(bytes / kPageBytes, Lsn::none);
  AlignedBuffer memory(kBatchPages * kPageBytes);
  const AlignedBuffer zeros(kPageBytes);
  for (std::uint64_t first = 1; first < kept.size(); first += kBatchPages) {
    const std::uint64_t end = std::min<std::uint64_t>(first + kBatchPages, kept.size());
    RETURN_IF_ERROR(data->read_at(first * kPageBytes, {memory.data(), (end - first) * kPageBytes}));
    for (std::uint64_t page = first; page < end; ++page) {
      const std::byte* const image = memory.data() + (page - first) * kPageBytes;
      const Lsn lsn = load<PageHeader>(image).lsn;
      if (check_page(image, PageId{page}) && lsn < fork_) {
        kept[page] = lsn;
        continue;
      }
      // Its LSN is of a history that ends. Redo would take it for newer than records of the other
      // one.
      if (std::memcmp(image, zeros.data(), kPageBytes) == 0) continue;
      RETURN_IF_ERROR(data->write_at(page * kPageBytes, zeros.bytes()));
    }
    if (told) told(end * kPageBytes, bytes);
  }
  RETURN_IF_ERROR(data->truncate(kept.size() * kPageBytes));
  RETURN_IF_ERROR(data->sync());
  return kept;
}

Result<> Rewind::finish() {
  ASSIGN_OR_RETURN(const auto data,
                   files_.open(directory_ / Volume::kFileName, OpenMode::read_write, {}));
  RETURN_IF_ERROR(data->sync());
  RETURN_IF_ERROR(files_.sync_directory(directory_));
  // Left alone, the other file says no more than what an interrupted rewind would do anew.
  RETURN_IF_ERROR(mark_finished(files_, directory_));
  RETURN_IF_ERROR(files_.remove(directory_ / kRewindName));
  return files_.sync_directory(directory_);
}

}  // namespace swizzle
