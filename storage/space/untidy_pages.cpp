#include "storage/space/untidy_pages.h"

#include <spdlog/spdlog.h>

#include <bit>
#include <new>
#include <string>

#include "base/checksum.h"
#include "base/field_codec.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kUntidyMagic = 0x0a0d594449545a53;  // "SZTIDY\r\n"
constexpr std::uint32_t kUntidyVersion = 1;
/// Magic, version, number of entries, checksum of the entries.
constexpr std::size_t kUntidyHeaderBytes = 24;
/// Number of a word of 64 pages, and the word.
constexpr std::size_t kUntidyEntryBytes = 16;
/// Larger data files than any.
constexpr std::uint64_t kMostWords = std::uint64_t{1} << 32U;

Result<std::vector<std::byte>> read_file(FileSystem& files, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32U;
  if (size < kUntidyHeaderBytes || size > kMostBytes) return std::vector<std::byte>{};
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(file->read_at(0, bytes));
  return bytes;
}

Result<> write_list_of(FileSystem& files, const std::filesystem::path& directory, Bytes bytes) {
  const auto unfinished = directory / (std::string{UntidyPages::kFileName} + ".tmp");
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, bytes));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files.rename(unfinished, directory / UntidyPages::kFileName));
  return files.sync_directory(directory);
}

}  // namespace

void UntidyPages::load(FileSystem& files, const std::filesystem::path& directory,
                       std::uint64_t database_id) {
  const auto path = directory / kFileName;
  const auto exists = files.exists(path);
  if (!exists || !*exists) return;
  const auto bytes = read_file(files, path);
  if (!bytes) {
    spdlog::warn("the list of leaves with space to reclaim cannot be read: {}",
                 bytes.error().message());
    return;
  }
  if (bytes->size() < kUntidyHeaderBytes) return;
  FieldReader in(*bytes);
  const auto magic = in.take<std::uint64_t>();
  const auto version = in.take<std::uint32_t>();
  const auto count = in.take<std::uint32_t>();
  const auto sum = in.take<std::uint64_t>();
  const Bytes body = Bytes{*bytes}.subspan(kUntidyHeaderBytes);
  if (magic != kUntidyMagic || version != kUntidyVersion ||
      body.size() != std::size_t{count} * kUntidyEntryBytes || checksum(body, database_id) != sum)
    return;
  const std::lock_guard hold(mutex_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto number = in.take<std::uint64_t>();
    const auto word = in.take<std::uint64_t>();
    if (number >= kMostWords) return;
    if (number >= words_.size()) words_.resize(number + 1);
    words_[number] = word;
  }
}

std::vector<std::byte> UntidyPages::encode(std::uint64_t database_id) const {
  std::vector<std::byte> body;
  FieldWriter entries(body);
  std::uint32_t count = 0;
  for (std::uint64_t number = 0; number < words_.size(); ++number) {
    if (words_[number] == 0) continue;
    entries.put(number);
    entries.put(words_[number]);
    ++count;
  }
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(kUntidyMagic);
  out.put(kUntidyVersion);
  out.put(count);
  out.put(checksum(body, database_id));
  out.put_bytes(body);
  return bytes;
}

Result<> UntidyPages::save(FileSystem& files, const std::filesystem::path& directory,
                           std::uint64_t database_id) {
  std::vector<std::byte> bytes;
  {
    const std::lock_guard hold(mutex_);
    if (!is_changed_) return {};
    is_changed_ = false;
    bytes = encode(database_id);
  }
  auto done = write_list_of(files, directory, bytes);
  if (done) return done;
  const std::lock_guard hold(mutex_);
  is_changed_ = true;
  return done;
}

Result<> UntidyPages::copy_to(FileSystem& files, const std::filesystem::path& directory,
                              std::uint64_t database_id) const {
  std::vector<std::byte> bytes;
  {
    const std::lock_guard hold(mutex_);
    bytes = encode(database_id);
  }
  return write_list_of(files, directory, bytes);
}

void UntidyPages::set(PageId page, bool is_untidy) {
  const std::uint64_t number = raw(page) / kBits;
  const std::uint64_t bit = std::uint64_t{1} << (raw(page) % kBits);
  const bool is_set = number < words_.size() && (words_[number] & bit) != 0;
  if (is_set == is_untidy) return;
  if (number >= words_.size()) words_.resize(number + 1);
  words_[number] ^= bit;
  is_changed_ = true;
}

void UntidyPages::written(std::span<const PageImage> images) noexcept {
  const std::lock_guard hold(mutex_);
  try {
    for (const PageImage& image : images) set(image.page, judge_(image.bytes));
  } catch (const std::bad_alloc&) {
    // VACUUM, a scan or an insert that lacks room finds the leaves.
  }
}

void UntidyPages::forget(PageId page) noexcept {
  const std::lock_guard hold(mutex_);
  if (raw(page) / kBits < words_.size()) set(page, false);
}

std::optional<PageId> UntidyPages::next(PageId from) const noexcept {
  const std::lock_guard hold(mutex_);
  std::uint64_t number = raw(from) / kBits;
  if (number >= words_.size()) return std::nullopt;
  std::uint64_t word = words_[number] & (~std::uint64_t{0} << (raw(from) % kBits));
  while (word == 0) {
    if (++number == words_.size()) return std::nullopt;
    word = words_[number];
  }
  return PageId{number * kBits + static_cast<std::uint64_t>(std::countr_zero(word))};
}

}  // namespace swizzle
