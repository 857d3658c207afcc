#include "storage/recovery/backup/changed_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "base/invariant.h"
#include "storage/page/page.h"

namespace swizzle {
namespace {

/// The list's head, before the numbers of the pages. The checksum of both is behind them.
struct ListHead {
  std::array<char, 8> magic{'S', 'W', 'Z', 'I', 'N', 'C', '\r', '\n'};
  std::uint64_t version = 1;
  std::uint64_t database_id = 0;
  std::uint64_t page_count = 0;
  std::uint64_t changed = 0;
};
static_assert(sizeof(ListHead) == 40);
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

std::unexpected<Error> damaged(const std::filesystem::path& path, std::string_view why) {
  return fail(sqlstate::data_corrupted,
              fmt::format("file \"{}\" of an incremental backup {}", path.native(), why));
}

}  // namespace

Result<ChangedPagesWriter> ChangedPagesWriter::create(FileSystem& files,
                                                      const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(auto images, files.open(directory / kChangedPagesName, OpenMode::create_new,
                                           {.direct = true}));
  return ChangedPagesWriter{files, directory, std::move(images)};
}

Result<> ChangedPagesWriter::add(PageId page, Bytes image) {
  INVARIANT(image.size() == kPageBytes && (pages_.empty() || pages_.back() < page));
  RETURN_IF_ERROR(images_->write_at(pages_.size() * kPageBytes, image));
  pages_.push_back(page);
  return {};
}

Result<> ChangedPagesWriter::finish(std::uint64_t database_id, std::uint64_t page_count) {
  RETURN_IF_ERROR(images_->sync());
  ListHead head;
  head.database_id = database_id;
  head.page_count = page_count;
  head.changed = pages_.size();
  const Bytes numbers = std::as_bytes(std::span{pages_});
  std::vector<std::byte> list(sizeof head + numbers.size() + kChecksumBytes);
  store(list.data(), head);
  std::ranges::copy(numbers, list.begin() + sizeof head);
  const Bytes summed = Bytes{list}.first(list.size() - kChecksumBytes);
  store(list.data() + summed.size(), checksum(summed, database_id));
  ASSIGN_OR_RETURN(auto file,
                   files_->open(directory_ / kChangedListName, OpenMode::create_new, {}));
  RETURN_IF_ERROR(file->write_at(0, list));
  return file->sync();
}

ChangedPagesReader::ChangedPagesReader(std::unique_ptr<File> images, std::vector<PageId> pages,
                                       std::uint64_t page_count)
    : images_(std::move(images)),
      pages_(std::move(pages)),
      page_count_(page_count),
      memory_(kBatchPages * kPageBytes) {}

Result<ChangedPagesReader> ChangedPagesReader::open(FileSystem& files,
                                                    const std::filesystem::path& directory,
                                                    std::uint64_t database_id) {
  const auto path = directory / kChangedListName;
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(auto images, files.open(directory / kChangedPagesName, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  ASSIGN_OR_RETURN(const std::uint64_t image_bytes, images->size());
  const std::uint64_t changed = image_bytes / kPageBytes;
  // The images tell how long the list must be, so that nothing else is allocated for it.
  if (image_bytes % kPageBytes != 0 ||
      size != sizeof(ListHead) + changed * sizeof(PageId) + kChecksumBytes)
    return damaged(path, "does not fit the file of the pages");
  std::vector<std::byte> list(size);
  RETURN_IF_ERROR(file->read_at(0, list));
  const auto head = load<ListHead>(list.data());
  const Bytes summed = Bytes{list}.first(list.size() - kChecksumBytes);
  if (head.magic != ListHead{}.magic || head.version != ListHead{}.version ||
      head.database_id != database_id || head.changed != changed ||
      load<std::uint64_t>(list.data() + summed.size()) != checksum(summed, database_id))
    return damaged(path, "is damaged, or belongs to another database");
  std::vector<PageId> pages(changed);
  if (changed != 0) std::memcpy(pages.data(), list.data() + sizeof head, changed * sizeof(PageId));
  const bool ascends = std::ranges::adjacent_find(pages, std::greater_equal{}) == pages.end();
  if (!ascends || (!pages.empty() && raw(pages.back()) >= head.page_count))
    return damaged(path, "has numbers of no pages");
  return ChangedPagesReader{std::move(images), std::move(pages), head.page_count};
}

Result<ChangedPagesReader::Batch> ChangedPagesReader::next() {
  const std::size_t count = std::min(kBatchPages, pages_.size() - position_);
  const Batch batch{std::span{pages_}.subspan(position_, count), memory_.data()};
  if (count != 0)
    RETURN_IF_ERROR(images_->read_at(position_ * kPageBytes, memory_.bytes(0, count * kPageBytes)));
  position_ += count;
  return batch;
}

bool ChangedPagesReader::contains(PageId page) const noexcept {
  return std::ranges::binary_search(pages_, page);
}

Result<> ChangedPagesReader::read(PageId page, std::byte* into) const {
  const auto found = std::ranges::lower_bound(pages_, page);
  INVARIANT(found != pages_.end() && *found == page);
  const auto at = static_cast<std::uint64_t>(found - pages_.begin());
  return images_->read_at(at * kPageBytes, {into, kPageBytes});
}

}  // namespace swizzle
