#include "wal/older_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/memory/aligned_buffer.h"
#include "base/runtime/runtime.h"
#include "wal/internal/segment.h"

namespace swizzle::wal {
namespace {

constexpr const char* kScratchName = "fetched.tmp";
/// A gap in an archive is looked for over so many segments.
constexpr std::uint64_t kLooksAhead = 8;

Result<SegmentHeader> header_of(File& file, std::uint64_t number) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  if (size < kSegmentHeaderBytes)
    return fail(sqlstate::data_corrupted, fmt::format("the archive's segment \"{}\" has {} bytes",
                                                      segment_name(number), size));
  AlignedBuffer block{kSegmentHeaderBytes};
  RETURN_IF_ERROR(file.read_at(0, block.bytes()));
  return decode_segment_header(block.bytes().first<kSegmentHeaderBytes>(), segment_name(number));
}

enum class Length : std::uint8_t { whole, any };

Result<> check_segment(File& file, std::uint64_t number, std::uint64_t database_id,
                       std::uint64_t segment_bytes, Length length) {
  ASSIGN_OR_RETURN(const SegmentHeader header, header_of(file, number));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  const bool is_long_enough =
      length == Length::any || size == SegmentGeometry{segment_bytes}.file_bytes();
  if (header.number == number && header.database_id == database_id &&
      header.segment_bytes == segment_bytes && is_long_enough)
    return {};
  return fail(sqlstate::data_corrupted,
              fmt::format("what the archive gives for segment \"{}\" is segment {:x} of database "
                          "{:016x}, {} bytes long",
                          segment_name(number), header.number, header.database_id, size));
}

/// Returns the error of a reader: a segment that is not what it should be says nothing of the pages
/// that need it.
std::unexpected<Error> cannot_be_had(std::uint64_t number, const Error& why) {
  const SqlState state = why.state() == sqlstate::data_corrupted ? sqlstate::io_error : why.state();
  return fail(Error{state, fmt::format("segment \"{}\" of the log from before the restore cannot "
                                       "be had: {}",
                                       segment_name(number), why.message())}
                  .with_hint("It is tried again when it is needed: put the segment back into the "
                             "archive."));
}

}  // namespace

OlderSegments::OlderSegments(FileSystem& files, std::filesystem::path directory, const Of& of,
                             OlderPlaces places)
    : files_(files),
      directory_(std::move(directory)),
      database_id_(of.database_id),
      segment_bytes_(of.segment_bytes),
      places_(std::move(places)),
      first_(of.first),
      end_(std::max(of.first, of.end)),
      ends_in_backup_(places_.ends_in_backup) {}

Result<std::shared_ptr<OlderSegments>> OlderSegments::open(FileSystem& files,
                                                           std::filesystem::path directory,
                                                           const Of& of, OlderPlaces places) {
  std::shared_ptr<OlderSegments> segments{
      new OlderSegments(files, std::move(directory), of, std::move(places))};
  RETURN_IF_ERROR(segments->look_into_directory());
  return segments;
}

Result<> OlderSegments::look_into_directory() {
  ASSIGN_OR_RETURN(const auto names, files_.list(directory_));
  std::vector<std::uint64_t> found;
  for (const std::string& name : names)
    if (const auto number = older_segment_number(name)) found.push_back(*number);
  std::ranges::sort(found);
  if (has_places()) {
    for (const std::uint64_t number : found) RETURN_IF_ERROR(files_.remove(fetched_path(number)));
    return {};
  }
  const std::lock_guard hold(mutex_);
  in_directory_ = std::move(found);
  // Segments that nothing needed any more are gone.
  first_ = in_directory_.empty() ? end_ : in_directory_.front();
  end_ = in_directory_.empty() ? first_ : in_directory_.back() + 1;
  return {};
}

std::filesystem::path OlderSegments::fetched_path(std::uint64_t number) const {
  return directory_ / older_segment_name(number);
}

bool OlderSegments::backup_has_whole(std::uint64_t number) const {
  return !places_.backup.empty() && (number + 1) * segment_bytes_ <= raw(places_.backup_end);
}

/// Returns where the segment may be read in place, the best place first: what the archive has is
/// whole.
std::vector<std::filesystem::path> OlderSegments::places_of(std::uint64_t number, Part part) const {
  std::vector<std::filesystem::path> places;
  if (!places_.folder.empty()) places.push_back(places_.folder / segment_name(number));
  const bool is_in_backup =
      !places_.backup.empty() && number * segment_bytes_ < raw(places_.backup_end);
  if (is_in_backup && (part == Part::taken || backup_has_whole(number)))
    places.push_back(places_.backup / segment_name(number));
  return places;
}

bool OlderSegments::is_fetched(std::uint64_t number) const {
  return places_.fetch && !backup_has_whole(number);
}

bool OlderSegments::is_here(std::uint64_t number) const {
  if (!is_fetched(number)) return true;
  const std::lock_guard hold(mutex_);
  return std::ranges::find(in_directory_, number) != in_directory_.end();
}

Result<bool> OlderSegments::find(std::uint64_t number) {
  {
    const std::lock_guard hold(mutex_);
    if (number >= first_ && number < end_) return true;
    if (ends_in_backup_) return false;
  }
  ASSIGN_OR_RETURN(const auto file, open_anywhere(number, Part::taken));
  if (!file) return false;
  promise(number);
  if (!backup_has_whole(number) && file->path() == places_.backup / segment_name(number)) {
    const std::lock_guard hold(mutex_);
    ends_in_backup_ = true;
  }
  return true;
}

void OlderSegments::promise(std::uint64_t number) {
  const std::lock_guard hold(mutex_);
  if (first_ == end_) first_ = end_ = number;
  end_ = std::max(end_, number + 1);
}

Result<std::unique_ptr<File>> OlderSegments::open_segment(std::uint64_t number) {
  Part part = Part::refused;
  {
    const std::lock_guard hold(mutex_);
    if (number < first_ || number >= end_) return nullptr;
    // Elsewhere the log goes on behind the backup's part of the segment.
    if (ends_in_backup_) part = Part::taken;
  }
  auto file = open_anywhere(number, part);
  if (!file) return cannot_be_had(number, file.error());
  if (*file || !has_places()) return file;
  return cannot_be_had(number,
                       Error{sqlstate::undefined_file, "neither archive nor backup has it"});
}

/// Returns null if no place has it.
Result<std::unique_ptr<File>> OlderSegments::open_anywhere(std::uint64_t number, Part part) {
  if (auto file = open_in_directory(number); !file || *file) return file;
  const bool fetches_first = is_fetched(number);
  if (fetches_first) {
    const std::lock_guard one_at_a_time(fetching_);
    // Another caller may have fetched it meanwhile.
    if (auto file = open_in_directory(number); !file || *file) return file;
    if (auto file = fetch(number); !file || *file) return file;
  }
  std::optional<Error> first;
  for (const auto& path : places_of(number, part)) {
    auto file = open_in_place(number, path);
    if (file && *file) return file;
    if (!file && !first) first = std::move(file).error();
  }
  if (first) return fail(std::move(*first));
  return nullptr;
}

Result<std::unique_ptr<File>> OlderSegments::open_in_directory(std::uint64_t number) {
  {
    const std::lock_guard hold(mutex_);
    const auto at = std::ranges::find(in_directory_, number);
    if (at == in_directory_.end()) return nullptr;
    std::rotate(at, at + 1, in_directory_.end());
  }
  auto file = files_.open(fetched_path(number), OpenMode::read_only, {});
  if (file || !has_places()) return file;
  // Another caller may have removed it for want of room.
  ASSIGN_OR_RETURN(const bool is_there, files_.exists(fetched_path(number)));
  if (is_there) return file;
  return nullptr;
}

Result<std::unique_ptr<File>> OlderSegments::open_in_place(std::uint64_t number,
                                                           const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool is_there, files_.exists(path));
  if (!is_there) return nullptr;
  ASSIGN_OR_RETURN(auto file, files_.open(path, OpenMode::read_only, {}));
  {
    const std::lock_guard hold(mutex_);
    if (checked_.contains(path)) return file;
  }
  const bool is_archived = path.parent_path() == places_.folder;
  RETURN_IF_ERROR(check_segment(*file, number, database_id_, segment_bytes_,
                                is_archived ? Length::whole : Length::any));
  const std::lock_guard hold(mutex_);
  checked_.insert(path);
  return file;
}

Result<bool> OlderSegments::call_fetch(std::uint64_t number, const std::filesystem::path& to) {
  Result<bool> found = false;
  // A command blocks its thread.
  Runtime::current().run_aside([&] { found = places_.fetch(segment_name(number), to); });
  return found;
}

/// Pre: the caller holds `fetching_`.
Result<std::unique_ptr<File>> OlderSegments::fetch(std::uint64_t number) {
  const auto scratch = directory_ / kScratchName;
  ASSIGN_OR_RETURN(const bool is_found, call_fetch(number, scratch));
  if (!is_found) return nullptr;
  {
    ASSIGN_OR_RETURN(const auto file, files_.open(scratch, OpenMode::read_only, {}));
    RETURN_IF_ERROR(check_segment(*file, number, database_id_, segment_bytes_, Length::whole));
    if (places_.check) RETURN_IF_ERROR(places_.check(number, *file));
  }
  RETURN_IF_ERROR(files_.rename(scratch, fetched_path(number)));
  ASSIGN_OR_RETURN(auto file, files_.open(fetched_path(number), OpenMode::read_only, {}));
  std::vector<std::uint64_t> surplus;
  note_fetched(number, surplus);
  // Open files can still be read.
  for (const std::uint64_t old : surplus) RETURN_IF_ERROR(files_.remove(fetched_path(old)));
  return file;
}

void OlderSegments::note_fetched(std::uint64_t number, std::vector<std::uint64_t>& surplus) {
  const std::lock_guard hold(mutex_);
  ++fetches_;
  in_directory_.push_back(number);
  const std::uint64_t most = std::max<std::uint64_t>(2, most_fetched_bytes / segment_bytes_);
  if (keeps_all_ || in_directory_.size() <= most) return;
  const auto excess = static_cast<std::ptrdiff_t>(in_directory_.size() - most);
  surplus.assign(in_directory_.begin(), in_directory_.begin() + excess);
  in_directory_.erase(in_directory_.begin(), in_directory_.begin() + excess);
}

/// A restored database may use the archive of the one before it. A damaged header counts as ours.
Result<bool> OlderSegments::archive_has(std::uint64_t number) {
  if (number >= first() && number < end()) return true;
  const bool is_fetched = static_cast<bool>(places_.fetch);
  if (!is_fetched && places_.folder.empty()) return false;
  const auto path = is_fetched ? directory_ / kScratchName : places_.folder / segment_name(number);
  Result<bool> is_there = false;
  if (is_fetched) {
    const std::lock_guard one_at_a_time(fetching_);
    is_there = call_fetch(number, path);
  } else {
    is_there = files_.exists(path);
  }
  if (!is_there || !*is_there) return is_there;
  bool is_ours = true;
  {
    ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::read_only, {}));
    const auto header = header_of(*file, number);
    is_ours = !header || header->database_id == database_id_;
  }
  if (is_fetched) RETURN_IF_ERROR(files_.remove(path));
  return is_ours;
}

Result<std::optional<std::string>> OlderSegments::find_behind_gap(Lsn end) {
  std::uint64_t missing = raw(end) / segment_bytes_;
  ASSIGN_OR_RETURN(const bool has_end, archive_has(missing));
  if (has_end) {
    ASSIGN_OR_RETURN(const bool has_next, archive_has(++missing));
    // The log ends here; the next segment was prepared for it.
    if (has_next) return std::nullopt;
  }
  for (std::uint64_t number = missing + 1; number <= missing + kLooksAhead; ++number) {
    ASSIGN_OR_RETURN(const bool found, archive_has(number));
    if (found) return segment_name(number);
  }
  return std::nullopt;
}

Result<> OlderSegments::copy_here(std::uint64_t number) {
  constexpr std::size_t kCopyPortion = std::size_t{1} << 20U;
  ASSIGN_OR_RETURN(const auto source, open_segment(number));
  if (!source || source->path() == fetched_path(number))
    return source ? source->sync() : Result<>{};
  const std::lock_guard one_at_a_time(fetching_);
  const auto scratch = directory_ / kScratchName;
  {
    ASSIGN_OR_RETURN(const std::uint64_t size, source->size());
    ASSIGN_OR_RETURN(const auto copy, files_.open(scratch, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(copy->truncate(0));
    AlignedBuffer buffer{kCopyPortion};
    for (std::uint64_t at = 0; at < size; at += kCopyPortion) {
      const auto part = buffer.bytes().first(std::min<std::uint64_t>(kCopyPortion, size - at));
      RETURN_IF_ERROR(source->read_at(at, part));
      RETURN_IF_ERROR(copy->write_at(at, part));
    }
    RETURN_IF_ERROR(copy->sync());
  }
  RETURN_IF_ERROR(files_.rename(scratch, fetched_path(number)));
  const std::lock_guard hold(mutex_);
  in_directory_.push_back(number);
  return {};
}

Result<> OlderSegments::keep_here(std::uint64_t number) {
  {
    const std::lock_guard hold(mutex_);
    keeps_all_ = true;
  }
  for (std::uint64_t at = std::max(number, first()); at < end(); ++at)
    RETURN_IF_ERROR(copy_here(at));
  return files_.sync_directory(directory_);
}

Result<> OlderSegments::remove_below(std::uint64_t number) {
  {
    const std::lock_guard hold(mutex_);
    first_ = std::max(first_, std::min(number, end_));
  }
  // Segments that writers wait for are prepared by the caller, and a fetch may take long: the next
  // call removes the files.
  const std::unique_lock one_at_a_time(fetching_, std::try_to_lock);
  if (!one_at_a_time.owns_lock()) return {};
  const auto next = [&]() -> std::optional<std::uint64_t> {
    const std::lock_guard hold(mutex_);
    const auto at = std::ranges::min_element(in_directory_);
    if (at == in_directory_.end() || *at >= number) return std::nullopt;
    return *at;
  };
  for (auto old = next(); old; old = next()) {
    RETURN_IF_ERROR(files_.remove(fetched_path(*old)));
    const std::lock_guard hold(mutex_);
    std::erase(in_directory_, *old);
  }
  return {};
}

std::uint64_t OlderSegments::first() const {
  const std::lock_guard hold(mutex_);
  return first_;
}

std::uint64_t OlderSegments::end() const {
  const std::lock_guard hold(mutex_);
  return end_;
}

bool OlderSegments::is_empty() const {
  const std::lock_guard hold(mutex_);
  return first_ == end_;
}

std::uint64_t OlderSegments::fetches() const {
  const std::lock_guard hold(mutex_);
  return fetches_;
}

}  // namespace swizzle::wal
