#include "storage/space/double_write.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>

#include "base/checksum.h"
#include "base/invariant.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kDoubleWriteMagic = 0x4554'4952'574c'4244;  // "DBLWRITE"

struct Entry {
  PageId page;
  std::uint64_t checksum;  ///< the page's own: an older image in its place does not match
};

/// The first page of an area. docs/on-disk-format.md lists the offsets.
struct AreaHeader {
  std::uint64_t checksum;  ///< of the page from here on, seeded with the area's number
  std::uint64_t magic;
  std::uint64_t database_id;
  std::uint64_t sequence;
  std::uint32_t count;
  std::uint32_t reserved;
  std::array<Entry, DoubleWrite::kBatchPages> entries;
};
static_assert(offsetof(AreaHeader, magic) == 8);
static_assert(offsetof(AreaHeader, sequence) == 24);
static_assert(offsetof(AreaHeader, entries) == 40);
static_assert(sizeof(AreaHeader) <= kPageBytes);

std::uint64_t header_checksum(const std::byte* area, std::size_t index) noexcept {
  constexpr std::size_t kBody = sizeof(AreaHeader::checksum);
  return checksum({area + kBody, kPageBytes - kBody}, index);
}

std::uint64_t checksum_in(const std::byte* image) noexcept {
  return load<PageHeader>(image).checksum;
}

std::byte* slot(AlignedBuffer& area, std::size_t index) noexcept {
  return area.data() + (index + 1) * kPageBytes;
}

}  // namespace

Result<> DoubleWrite::create(FileSystem& files, const std::filesystem::path& directory,
                             std::uint64_t database_id) {
  ASSIGN_OR_RETURN(auto file, files.open(directory / kFileName, OpenMode::create_new,
                                         {.direct = true, .dsync = true}));
  AlignedBuffer area(kAreaBytes);
  for (std::size_t index = 0; index < kAreas; ++index) {
    AreaHeader header{};
    header.magic = kDoubleWriteMagic;
    header.database_id = database_id;
    store(area.data(), header);
    store(area.data(), header_checksum(area.data(), index));
    // Writes zeros, so that the first batches overwrite blocks that are allocated.
    RETURN_IF_ERROR(file->write_at(index * kAreaBytes, area.bytes(0, kAreaBytes)));
  }
  return {};
}

Result<std::unique_ptr<DoubleWrite>> DoubleWrite::open(FileSystem& files,
                                                       const std::filesystem::path& directory,
                                                       std::uint64_t database_id) {
  const auto path = directory / kFileName;
  std::uint64_t size = 0;
  ASSIGN_OR_RETURN(const bool is_there, files.exists(path));
  if (is_there) {
    ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {.direct = true}));
    ASSIGN_OR_RETURN(size, file->size());
  }
  if (size < kAreas * kAreaBytes) {
    spdlog::warn(
        "file \"{}\" is {}, and is made anew: a page that a power cut has torn is rebuilt from the "
        "log or given up",
        path.native(), is_there ? "truncated" : "missing");
    if (is_there) RETURN_IF_ERROR(files.remove(path));
    RETURN_IF_ERROR(create(files, directory, database_id));
    RETURN_IF_ERROR(files.sync_directory(directory));
  }
  ASSIGN_OR_RETURN(auto file,
                   files.open(path, OpenMode::read_write, {.direct = true, .dsync = true}));
  return std::unique_ptr<DoubleWrite>(new DoubleWrite(std::move(file), database_id));
}

Result<DoubleWrite::Content> DoubleWrite::read_area(std::size_t index, AlignedBuffer& memory) {
  RETURN_IF_ERROR(file_->read_at(index * kAreaBytes, memory.bytes(0, kAreaBytes)));
  const auto header = load<AreaHeader>(memory.data());
  // A torn header belongs to a batch of which no page was written in place yet.
  if (header.magic != kDoubleWriteMagic ||
      header.checksum != header_checksum(memory.data(), index) || header.count > kBatchPages)
    return Content{};
  if (header.database_id != database_id_)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("file \"{}\" belongs to database {:016x}, not to {:016x}",
                            file_->path().native(), header.database_id, database_id_));
  Content content;
  content.sequence = header.sequence;
  for (std::size_t i = 0; i < header.count; ++i) {
    const Entry& entry = header.entries[i];
    content.pages.push_back(entry.page);
    content.checksums.push_back(entry.checksum);
  }
  return content;
}

// True for the last two batches. Pages of an older batch may have been written again since.
bool DoubleWrite::is_recent(std::uint64_t sequence) const noexcept {
  return sequence + kAreas >= next_sequence_.load();
}

// Newest batch first: if two have the same page, the younger image is the one that may be torn in
// place. Once it is repaired, the older one finds a whole page and leaves it.
Result<std::vector<PageId>> DoubleWrite::repair(File& data) {
  std::array<Content, kAreas> contents;
  for (std::size_t i = 0; i < kAreas; ++i) {
    ASSIGN_OR_RETURN(contents[i], read_area(i, areas_[i].memory));
    next_sequence_ = std::max(next_sequence_.load(), contents[i].sequence + 1);
  }
  std::array<std::size_t, kAreas> order{0, 1};
  std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return contents[i].sequence; });

  std::vector<PageId> repaired;
  for (const std::size_t i : order) {
    if (!is_recent(contents[i].sequence)) continue;
    for (std::size_t at = 0; at < contents[i].pages.size(); ++at) {
      std::byte* image = slot(areas_[i].memory, at);
      const PageId page = contents[i].pages[at];
      if (checksum_in(image) != contents[i].checksums[at] || !check_page(image, page)) continue;
      RETURN_IF_ERROR(repair_page(data, page, image, repaired));
    }
  }
  if (!repaired.empty()) RETURN_IF_ERROR(data.sync());
  return repaired;
}

Result<> DoubleWrite::repair_page(File& data, PageId page, std::byte* image,
                                  std::vector<PageId>& repaired) {
  ASSIGN_OR_RETURN(const std::uint64_t size, data.size());
  const std::uint64_t offset = raw(page) * kPageBytes;
  // The file has been shrunk since, so the page is not in use.
  if (offset + kPageBytes > size) return {};
  AlignedBuffer in_place(kPageBytes);
  RETURN_IF_ERROR(data.read_at(offset, in_place.bytes()));
  if (check_page(in_place.data(), page)) return {};
  RETURN_IF_ERROR(data.write_at(offset, {image, kPageBytes}));
  repaired.push_back(page);
  return {};
}

Result<std::optional<AlignedBuffer>> DoubleWrite::find(PageId page) {
  std::optional<AlignedBuffer> found;
  std::uint64_t found_sequence = 0;
  AlignedBuffer memory(kAreaBytes);
  for (std::size_t i = 0; i < kAreas; ++i) {
    const std::lock_guard hold(areas_[i].mutex);
    ASSIGN_OR_RETURN(const Content content, read_area(i, memory));
    const auto at = std::ranges::find(content.pages, page);
    if (at == content.pages.end() || !is_recent(content.sequence) ||
        (found && content.sequence < found_sequence))
      continue;
    const auto index = static_cast<std::size_t>(at - content.pages.begin());
    const std::byte* image = slot(memory, index);
    if (checksum_in(image) != content.checksums[index] || !check_page(image, page)) continue;
    found.emplace(kPageBytes);
    std::memcpy(found->data(), image, kPageBytes);
    found_sequence = content.sequence;
  }
  return found;
}

// Waits for the next area in turn, even if the other one is free: a skipped area would keep images
// of pages that have been written elsewhere since.
DoubleWrite::Lease::Lease(DoubleWrite& of) noexcept : of_(of) {
  const std::lock_guard next(of.turn_);
  sequence_ = of.next_sequence_.load();
  area().mutex.lock();
  of.next_sequence_.store(sequence_ + 1);
}

DoubleWrite::Lease::~Lease() {
  area().mutex.unlock();
}

DoubleWrite::Area& DoubleWrite::Lease::area() const noexcept {
  return of_.areas_[area_of(sequence_)];
}

std::span<const PageImage> DoubleWrite::Lease::staged() const noexcept {
  return area().staged;
}

Result<> DoubleWrite::Lease::write(std::span<const PageImage> images) {
  INVARIANT(!images.empty() && images.size() <= kBatchPages);
  Area& area = this->area();
  area.staged.assign(images.begin(), images.end());
  std::ranges::sort(area.staged, {}, &PageImage::page);

  AreaHeader header{};
  header.magic = kDoubleWriteMagic;
  header.database_id = of_.database_id_;
  header.sequence = sequence_;
  header.count = static_cast<std::uint32_t>(images.size());
  for (std::size_t i = 0; i < area.staged.size(); ++i) {
    PageImage& image = area.staged[i];
    INVARIANT(i == 0 || area.staged[i - 1].page != image.page);
    std::byte* copy = slot(area.memory, i);
    std::memcpy(copy, image.bytes, kPageBytes);
    image.bytes = copy;
    header.entries[i] = {image.page, checksum_in(copy)};
  }
  std::memset(area.memory.data(), 0, kPageBytes);
  store(area.memory.data(), header);
  const std::size_t index = area_of(sequence_);
  store(area.memory.data(), header_checksum(area.memory.data(), index));
  return of_.file_->write_at(index * kAreaBytes,
                             area.memory.bytes(0, (images.size() + 1) * kPageBytes));
}

}  // namespace swizzle
