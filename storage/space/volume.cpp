#include "storage/space/volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/checksum.h"
#include "base/invariant.h"

namespace swizzle {
namespace {

constexpr std::array<char, 8> kVolumeMagic = {'S', 'W', 'I', 'Z', 'Z', 'D', 'A', 'T'};

/// In the first page, twice. docs/on-disk-format.md lists the offsets. Magic, version and page size
/// keep their places in all versions.
struct FileHeader {
  std::array<char, 8> magic;
  std::uint32_t format_version;
  std::uint32_t page_bytes;
  std::uint64_t database_id;
  std::uint64_t checksum;  ///< of the fields before it, seeded with the copy's offset
};
static_assert(sizeof(FileHeader) == 32);
static_assert(offsetof(FileHeader, format_version) == 8);
static_assert(offsetof(FileHeader, page_bytes) == 12);
static_assert(offsetof(FileHeader, database_id) == 16);
static_assert(offsetof(FileHeader, checksum) == 24);

constexpr const char* kPutBack =
    "Put the file back as it was, or restore the database from a backup.";

constexpr std::size_t kCopyBytes = 4096;
constexpr std::array<std::uint64_t, 2> kCopyOffsets = {0, kCopyBytes};
constexpr std::uint64_t kHeaderBytes = 2 * kCopyBytes;
static_assert(kHeaderBytes <= kPageBytes, "page 1 is behind it");

std::uint64_t checksum_of(const FileHeader& header, std::uint64_t offset) noexcept {
  return checksum(std::as_bytes(std::span{&header, 1}).first(offsetof(FileHeader, checksum)),
                  offset);
}

bool is_whole(const FileHeader& header, std::uint64_t offset) noexcept {
  return header.magic == kVolumeMagic && header.format_version == Volume::kFormatVersion &&
         header.page_bytes == kPageBytes && header.checksum == checksum_of(header, offset);
}

std::unexpected<Error> refused(SqlState state, const File& file, std::string_view why) {
  return fail(
      Error{state, fmt::format("file \"{}\" {}", file.path().native(), why)}.with_hint(kPutBack));
}

Result<FileHeader> read_header(File& file) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  if (size < kHeaderBytes)
    return refused(sqlstate::data_corrupted, file,
                   fmt::format("is truncated: it has {} bytes, less than its header", size));
  AlignedBuffer buffer(kHeaderBytes);
  RETURN_IF_ERROR(file.read_at(0, buffer.bytes()));

  std::array<FileHeader, kCopyOffsets.size()> copies;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i] = load<FileHeader>(buffer.data() + kCopyOffsets[i]);
    if (is_whole(copies[i], kCopyOffsets[i])) return copies[i];
  }
  const auto all = [&copies](auto holds) { return std::ranges::all_of(copies, holds); };
  const std::uint32_t version = copies[0].format_version;
  const std::uint32_t page_bytes = copies[0].page_bytes;
  if (all([](const FileHeader& copy) { return copy.magic != kVolumeMagic; }))
    return refused(sqlstate::object_not_in_prerequisite_state, file,
                   "is not a Swizzle data file: it does not begin as one");
  // Ignores the checksum here, because another version may have it elsewhere. A single changed byte
  // does not make another version.
  if (version != Volume::kFormatVersion &&
      all([version](const FileHeader& copy) { return copy.format_version == version; }))
    return refused(sqlstate::object_not_in_prerequisite_state, file,
                   fmt::format("has format version {}; this program reads version {}", version,
                               Volume::kFormatVersion));
  if (page_bytes != kPageBytes &&
      all([page_bytes](const FileHeader& copy) { return copy.page_bytes == page_bytes; }))
    return refused(sqlstate::object_not_in_prerequisite_state, file,
                   fmt::format("has pages of {} bytes; this program was built for {}", page_bytes,
                               kPageBytes));
  return refused(sqlstate::data_corrupted, file, "is damaged: both copies of its header are");
}

IoRequest transfer_of(IoRequest::Kind kind, PageId first, std::byte* data,
                      std::size_t pages) noexcept {
  IoRequest request;
  request.kind = kind;
  request.offset = raw(first) * kPageBytes;
  request.data = data;
  request.size = pages * kPageBytes;
  return request;
}

}  // namespace

Result<> Volume::create(FileSystem& files, const std::filesystem::path& directory,
                        std::uint64_t database_id) {
  ASSIGN_OR_RETURN(auto file,
                   files.open(directory / kFileName, OpenMode::create_new, {.direct = true}));
  AlignedBuffer page(kPageBytes);
  for (const std::uint64_t offset : kCopyOffsets) {
    FileHeader header{kVolumeMagic, kFormatVersion, kPageBytes, database_id, 0};
    header.checksum = checksum_of(header, offset);
    store(page.data() + offset, header);
  }
  RETURN_IF_ERROR(file->write_at(0, page.bytes()));
  RETURN_IF_ERROR(file->sync());
  RETURN_IF_ERROR(DoubleWrite::create(files, directory, database_id));
  return files.sync_directory(directory);
}

Result<std::unique_ptr<Volume>> Volume::open(FileSystem& files,
                                             const std::filesystem::path& directory) {
  std::unique_ptr<Volume> volume(new Volume);
  // The data file first, so that a foreign directory gets no lock file.
  auto data = files.open(directory / kFileName, OpenMode::read_write, {.direct = true});
  if (!data) return fail(std::move(data).error().with_hint(kPutBack));
  volume->data_ = std::move(*data);
  ASSIGN_OR_RETURN(const FileHeader header, read_header(*volume->data_));
  ASSIGN_OR_RETURN(volume->lock_, files.lock(directory / kLockName));
  volume->database_id_ = header.database_id;
  ASSIGN_OR_RETURN(volume->double_write_, DoubleWrite::open(files, directory, header.database_id));
  ASSIGN_OR_RETURN(volume->repaired_, volume->double_write_->repair(*volume->data_));
  ASSIGN_OR_RETURN(const std::uint64_t size, volume->data_->size());
  volume->page_count_ = size / kPageBytes;
  return volume;
}

Error Volume::read_failure(PageId page, const IoRequest& request) const {
  return Error{sqlstate::io_error, fmt::format("could not read page {}", raw(page))}.with_detail(
      data_->failure(request).message());
}

Result<> Volume::read_page(PageId page, std::byte* into) {
  if (raw(page) >= page_count())
    return fail(sqlstate::data_corrupted,
                fmt::format("page {} lies behind the end of file \"{}\", which has {} pages",
                            raw(page), path().native(), page_count()));
  pages_read_.fetch_add(1, std::memory_order_relaxed);
  if (auto read = data_->read_at(raw(page) * kPageBytes, {into, kPageBytes}); !read)
    return fail(
        Error{read.error().state(), fmt::format("could not read page {}", raw(page))}.with_detail(
            read.error().message()));
  auto checked = check_page(into, page);
  if (checked || absent_ == nullptr || !absent_->is_absent(page)) return checked;
  return absent_->read(page, into);
}

void Volume::start_reads(std::span<PageRead* const> reads) noexcept {
  constexpr std::size_t kPortion = 64;
  std::array<IoRequest*, kPortion> portion{};
  pages_read_.fetch_add(reads.size(), std::memory_order_relaxed);
  // Their completion handlers must not wait for it.
  for (const PageRead* const read : reads) written_lsns_.bring_in(read->page);
  for (std::size_t at = 0; at < reads.size(); at += kPortion) {
    const std::size_t count = std::min(kPortion, reads.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      PageRead& read = *reads[at + i];
      read.request = transfer_of(IoRequest::Kind::read, read.page, read.into, 1);
      read.request.context = &read;
      read.request.done = [](IoRequest& request) noexcept {
        auto& done = *static_cast<PageRead*>(request.context);
        const WrittenLsns::NoReading handler;
        done.done(done);
      };
      portion[i] = &read.request;
    }
    data_->submit({portion.data(), count});
  }
}

void Volume::read_pages(std::span<PageRead> reads) noexcept {
  constexpr std::size_t kPortion = 256;
  std::array<IoRequest, kPortion> requests;
  pages_read_.fetch_add(reads.size(), std::memory_order_relaxed);
  for (std::size_t at = 0; at < reads.size(); at += kPortion) {
    const auto portion = reads.subspan(at, std::min(kPortion, reads.size() - at));
    for (std::size_t i = 0; i < portion.size(); ++i)
      requests[i] = transfer_of(IoRequest::Kind::read, portion[i].page, portion[i].into, 1);
    data_->transfer_all({requests.data(), portion.size()});
    for (std::size_t i = 0; i < portion.size(); ++i) portion[i].request = requests[i];
  }
}

Result<> Volume::outcome(const PageRead& read) const {
  if (read.request.error != 0) return fail(read_failure(read.page, read.request));
  return check_page(read.into, read.page);
}

Result<> Volume::write_pages(std::span<const PageImage> images) {
  while (!images.empty()) {
    const auto batch = images.first(std::min(images.size(), DoubleWrite::kBatchPages));
    RETURN_IF_ERROR(write_batch(batch));
    images = images.subspan(batch.size());
    written_lsns_.trim();
  }
  return {};
}

Result<> Volume::write_batch(std::span<const PageImage> images) {
  for (const PageImage& image : images) {
    INVARIANT(image.page != PageId::none && raw(image.page) < page_count());
    INVARIANT_SLOW(check_page(image.bytes, image.page).has_value());
    if (image_check_ != nullptr) image_check_->before_write(image);
  }
  DoubleWrite::Lease lease(*double_write_);
  // Checked under the lease: a batch that waited for the failed one must not go on.
  RETURN_IF_ERROR(writable());
  if (auto copied = lease.write(images); !copied) return refuse_writes(std::move(copied).error());
  if (auto written = write_in_place(lease.staged()); !written)
    return refuse_writes(std::move(written).error());
  for (const PageImage& image : images)
    written_lsns_.note(image.page, load<PageHeader>(image.bytes).lsn);
  if (absent_ != nullptr) absent_->written(images);
  if (untidy_ != nullptr) untidy_->written(images);
  pages_written_.fetch_add(images.size(), std::memory_order_relaxed);
  return {};
}

Result<> Volume::write_in_place(std::span<const PageImage> sorted) {
  std::vector<IoRequest> requests;
  requests.reserve(sorted.size());
  for (std::size_t at = 0; at < sorted.size();) {
    // Neighbours on disk are neighbours in the staging memory: one transfer.
    std::size_t end = at + 1;
    while (end < sorted.size() && raw(sorted[end].page) == raw(sorted[end - 1].page) + 1) ++end;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): a write only reads from it
    auto* data = const_cast<std::byte*>(sorted[at].bytes);
    requests.push_back(transfer_of(IoRequest::Kind::write, sorted[at].page, data, end - at));
    at = end;
  }
  data_->transfer_all(requests);
  for (const IoRequest& request : requests) {
    if (request.error != 0) return fail(data_->failure(request));
  }
  return sync();
}

// The kernel reports a failure to one sync only. So syncs are serialised, and each one after a
// failed one fails too: its writes may be those of the report.
Result<> Volume::sync() {
  const std::lock_guard in_turn(sync_mutex_);
  RETURN_IF_ERROR(writable());
  auto synced = data_->sync();
  if (!synced) return refuse_writes(std::move(synced).error());
  return {};
}

Result<> Volume::writable() const {
  if (!refuses_writes_.load(std::memory_order_acquire)) return {};
  const std::lock_guard hold(reason_mutex_);
  return fail(
      Error{sqlstate::io_error, fmt::format("file \"{}\" is no longer written to", path().native())}
          .with_detail(reason_));
}

// The device may have kept any part of the batch, and a later sync that succeeds would prove
// nothing. The areas keep their images, so a restart can still make the pages whole.
Result<> Volume::refuse_writes(Error&& reason) {
  const std::lock_guard hold(reason_mutex_);
  if (reason_.empty()) reason_ = reason.message();
  refuses_writes_.store(true, std::memory_order_release);
  return fail(std::move(reason));
}

Result<> Volume::grow_to(std::uint64_t pages) {
  const std::uint64_t old = page_count();
  INVARIANT(pages >= old);
  RETURN_IF_ERROR(writable());
  RETURN_IF_ERROR(data_->allocate(old * kPageBytes, (pages - old) * kPageBytes));
  // A page there may be allocated in the log before anything is written to it.
  RETURN_IF_ERROR(sync());
  page_count_.store(pages, std::memory_order_release);
  return {};
}

Result<> Volume::shrink_to(std::uint64_t pages) {
  const std::uint64_t old = page_count();
  INVARIANT(pages >= 1 && pages <= old);
  page_count_.store(pages, std::memory_order_release);
  if (auto truncated = data_->truncate(pages * kPageBytes); !truncated) {
    page_count_.store(old, std::memory_order_release);
    return truncated;
  }
  return {};
}

}  // namespace swizzle
