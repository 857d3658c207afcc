#include "wal/internal/segment_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "base/memory/aligned_buffer.h"

namespace swizzle::wal {
namespace {

constexpr std::uint64_t kZeroChunk = std::uint64_t{1} << 20U;

}  // namespace

SegmentStore::SegmentStore(FileSystem& files, std::filesystem::path directory,
                           SegmentGeometry geometry, std::uint64_t database_id,
                           FileOptions write_options, std::uint32_t timeline)
    : files_(files),
      directory_(std::move(directory)),
      geometry_(geometry),
      database_id_(database_id),
      write_options_(write_options),
      timeline_(timeline) {}

Result<> SegmentStore::adopt(std::uint64_t first, std::uint64_t last,
                             std::uint64_t first_writable) {
  {
    const std::lock_guard guard{mutex_};
    first_ = first;
    end_ = last + 1;
  }
  for (std::uint64_t number = first_writable; number <= last; ++number) {
    RETURN_IF_ERROR(open_writable(number));
  }
  return adopt_kept_files();
}

Result<bool> SegmentStore::is_whole(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(auto file, files_.open(path, OpenMode::read_only, FileOptions{.direct = true}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  return size == geometry_.file_bytes();
}

Result<> SegmentStore::adopt_kept_files() {
  for (;;) {
    ASSIGN_OR_RETURN(const bool exists, files_.exists(kept_file(kept_files_)));
    if (!exists) break;
    ++kept_files_;
  }
  ASSIGN_OR_RETURN(const bool left_behind, files_.exists(unfinished()));
  if (!left_behind) return {};
  // The file may be reserved for a future rollback; its content does not matter.
  ASSIGN_OR_RETURN(const bool whole, is_whole(unfinished()));
  if (!whole) return files_.remove(unfinished());
  RETURN_IF_ERROR(files_.rename(unfinished(), kept_file(kept_files_)));
  ++kept_files_;
  return files_.sync_directory(directory_);
}

void SegmentStore::begin_at(std::uint64_t first) {
  const std::lock_guard guard{mutex_};
  first_ = end_ = first;
}

Result<> SegmentStore::open_writable(std::uint64_t number) {
  ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                   files_.open(path_of(number), OpenMode::read_write, write_options_));
  const std::lock_guard guard{mutex_};
  writable_[number] = std::move(file);
  return {};
}

Result<> SegmentStore::set_aside(std::uint64_t number) {
  RETURN_IF_ERROR(files_.rename(path_of(number), unfinished()));
  {
    const std::lock_guard guard{mutex_};
    INVARIANT(first_ == number);
    ++first_;
  }
  // Sync before the header changes: after a crash the old name must not refer to the new segment.
  return files_.sync_directory(directory_);
}

Result<> SegmentStore::fill_with_zeros() {
  ASSIGN_OR_RETURN(
      auto file, files_.open(unfinished(), OpenMode::open_or_create, FileOptions{.direct = true}));
  // Write zeros, not only allocate: the first write to an allocated block changes the file's extent
  // map, so every commit would wait for the file system's journal as well.
  RETURN_IF_ERROR(file->allocate(0, geometry_.file_bytes()));
  const AlignedBuffer zeros{std::min(kZeroChunk, geometry_.bytes())};
  for (std::uint64_t at = 0; at < geometry_.file_bytes(); at += zeros.size()) {
    const std::uint64_t left = geometry_.file_bytes() - at;
    RETURN_IF_ERROR(
        file->write_at(at, zeros.bytes().first(std::min<std::uint64_t>(zeros.size(), left))));
  }
  return file->sync();
}

Result<> SegmentStore::write_header(std::uint64_t number) {
  ASSIGN_OR_RETURN(auto file,
                   files_.open(unfinished(), OpenMode::read_write, FileOptions{.direct = true}));
  AlignedBuffer block{kSegmentHeaderBytes};
  encode_segment_header({geometry_.bytes(), number, database_id_, timeline_},
                        block.bytes().first<kSegmentHeaderBytes>());
  RETURN_IF_ERROR(file->write_at(0, block.bytes()));
  return file->sync();
}

Result<> SegmentStore::prepare_next(std::uint64_t free_below) {
  const std::uint64_t oldest = first();
  const std::uint64_t number = end();
  ASSIGN_OR_RETURN(const bool unfinished_exists, files_.exists(unfinished()));
  if (unfinished_exists) {
    // Remove the remains of an earlier attempt; if the disk was full, this frees space.
    RETURN_IF_ERROR(files_.remove(unfinished()));
  }
  if (oldest < free_below && oldest < number) {
    RETURN_IF_ERROR(set_aside(oldest));
  } else if (auto filled = fill_with_zeros(); !filled) {
    static_cast<void>(files_.remove(unfinished()));
    return filled;
  }
  return finish_next();
}

Result<> SegmentStore::finish_next() {
  const std::uint64_t number = end();
  RETURN_IF_ERROR(write_header(number));
  RETURN_IF_ERROR(files_.rename(unfinished(), path_of(number)));
  RETURN_IF_ERROR(files_.sync_directory(directory_));
  RETURN_IF_ERROR(open_writable(number));
  const std::lock_guard guard{mutex_};
  end_ = number + 1;
  return {};
}

Result<> SegmentStore::keep_file() {
  // Allocate without writing: the file is rarely needed, so it should cost no writes.
  const auto allocate = [&]() -> Result<> {
    ASSIGN_OR_RETURN(auto file, files_.open(unfinished(), OpenMode::open_or_create,
                                            FileOptions{.direct = true}));
    RETURN_IF_ERROR(file->allocate(0, geometry_.file_bytes()));
    return file->sync();
  };
  if (auto allocated = allocate(); !allocated) {
    static_cast<void>(files_.remove(unfinished()));
    return allocated;
  }
  RETURN_IF_ERROR(files_.rename(unfinished(), kept_file(kept_files_)));
  ++kept_files_;
  return files_.sync_directory(directory_);
}

Result<> SegmentStore::drop_kept_file() {
  INVARIANT(kept_files_ != 0);
  RETURN_IF_ERROR(files_.remove(kept_file(kept_files_ - 1)));
  --kept_files_;
  return {};
}

Result<> SegmentStore::prepare_from_kept_file() {
  INVARIANT(kept_files_ != 0);
  RETURN_IF_ERROR(files_.rename(kept_file(kept_files_ - 1), unfinished()));
  --kept_files_;
  return finish_next();
}

Result<> SegmentStore::remove_surplus(std::uint64_t free_below, std::uint32_t spares) {
  while (first() + spares < std::min(free_below, end())) {
    RETURN_IF_ERROR(files_.remove(path_of(first())));
    const std::lock_guard guard{mutex_};
    ++first_;
  }
  return {};
}

Result<> SegmentStore::remove_older(std::uint64_t free_below) {
  return older_ ? older_->remove_below(free_below) : Result<>{};
}

std::uint64_t SegmentStore::first_of_all() const {
  return older_ && !older_->is_empty() ? older_->first() : first();
}

void SegmentStore::close_below(std::uint64_t number) {
  std::vector<std::shared_ptr<File>> closing;  // closed after the mutex is released
  const std::lock_guard guard{mutex_};
  while (!writable_.empty() && writable_.begin()->first < number) {
    closing.push_back(std::move(writable_.begin()->second));
    writable_.erase(writable_.begin());
  }
}

std::shared_ptr<File> SegmentStore::writable(std::uint64_t number) const {
  const std::lock_guard guard{mutex_};
  const auto found = writable_.find(number);
  INVARIANT(found != writable_.end());
  return found->second;
}

std::uint64_t SegmentStore::first() const {
  const std::lock_guard guard{mutex_};
  return first_;
}

std::uint64_t SegmentStore::end() const {
  const std::lock_guard guard{mutex_};
  return end_;
}

Result<std::vector<std::uint64_t>> list_segments(FileSystem& files,
                                                 const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  std::vector<std::uint64_t> numbers;
  for (const auto& name : names) {
    if (const auto number = segment_number(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<SegmentHeader> read_segment_header(FileSystem& files, const std::filesystem::path& directory,
                                          std::uint64_t number) {
  const auto path = directory / segment_name(number);
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_only, FileOptions{.direct = true}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size < kSegmentHeaderBytes) {
    return fail(sqlstate::data_corrupted,
                fmt::format("log segment \"{}\" is cut off within its header", path.native()));
  }
  AlignedBuffer block{kSegmentHeaderBytes};
  RETURN_IF_ERROR(file->read_at(0, block.bytes()));
  ASSIGN_OR_RETURN(
      const auto header,
      decode_segment_header(block.bytes().first<kSegmentHeaderBytes>(), path.native()));
  if (header.number != number) {
    return fail(sqlstate::data_corrupted,
                fmt::format("log segment \"{}\" holds segment {} and not {}", path.native(),
                            header.number, number));
  }
  return header;
}

}  // namespace swizzle::wal
