#include "storage/warm/resident_pages.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "base/checksum.h"
#include "base/field_codec.h"
#include "base/runtime/runtime.h"
#include "storage/latch/guards.h"
#include "storage/page/page.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kResidentMagic = 0x0a0d534552455a53;  // "SZERES\r\n"
constexpr std::uint32_t kResidentVersion = 1;
/// Magic, version, number of entries, checksum of the entries.
constexpr std::size_t kResidentHeaderBytes = 24;
constexpr std::size_t kResidentEntryBytes = 16;

/// Returns the page in the frame; PageId::none if there is none.
ResidentPage resident_in(Frame& frame) noexcept {
  if (frame.state() == FrameState::free) return {};
  ReadGuard read(frame.latch, ReadGuard::Manner::optimistic);
  ResidentPage found;
  std::memcpy(&found.tree, frame.page() + offsetof(PageHeader, tree), sizeof found.tree);
  std::memcpy(&found.level, frame.page() + offsetof(PageHeader, level), sizeof found.level);
  found.page = frame.page_id();
  found.usage = frame.usage.load(std::memory_order_relaxed);
  return read.valid() ? found : ResidentPage{};
}

Result<std::vector<std::byte>> read_file(FileSystem& files, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32U;
  if (size < kResidentHeaderBytes || size > kMost) return std::vector<std::byte>{};
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(file->read_at(0, bytes));
  return bytes;
}

}  // namespace

std::vector<ResidentPage> ResidentPages::of(const FrameArena& arena) {
  std::vector<ResidentPage> pages;
  std::uint32_t looked_at = 0;
  arena.for_each_used([&](Frame& frame) {
    if (++looked_at % kFramesBetweenYields == 0) Runtime::current().yield();
    if (const ResidentPage found = resident_in(frame); found.page != PageId::none)
      pages.push_back(found);
  });
  std::ranges::sort(pages, {}, [](const ResidentPage& page) {
    return std::tuple{raw(page.tree), -static_cast<int>(page.level), raw(page.page)};
  });
  return pages;
}

Result<> ResidentPages::save(FileSystem& files, const std::filesystem::path& directory,
                             std::uint64_t database_id, const std::vector<ResidentPage>& pages) {
  std::vector<std::byte> body;
  body.reserve(pages.size() * kResidentEntryBytes);
  FieldWriter entries(body);
  for (const ResidentPage& page : pages) {
    entries.put(page.page);
    entries.put(page.tree);
    entries.put(page.level);
    entries.put(page.usage);
    entries.put(std::uint16_t{0});
  }
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(kResidentMagic);
  out.put(kResidentVersion);
  out.put(static_cast<std::uint32_t>(pages.size()));
  out.put(checksum(body, database_id));
  bytes.insert(bytes.end(), body.begin(), body.end());
  const auto unfinished = directory / (std::string{kFileName} + ".tmp");
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, bytes));
  }
  return files.rename(unfinished, directory / kFileName);
}

std::vector<ResidentPage> ResidentPages::load(FileSystem& files,
                                              const std::filesystem::path& directory,
                                              std::uint64_t database_id) {
  const auto path = directory / kFileName;
  const auto exists = files.exists(path);
  if (!exists || !*exists) return {};
  const auto bytes = read_file(files, path);
  if (!bytes) {
    spdlog::warn("the list of pages that were in memory cannot be read: {}",
                 bytes.error().message());
    return {};
  }
  if (bytes->size() < kResidentHeaderBytes) return {};
  FieldReader in(*bytes);
  const auto magic = in.take<std::uint64_t>();
  const auto version = in.take<std::uint32_t>();
  const auto count = in.take<std::uint32_t>();
  const auto sum = in.take<std::uint64_t>();
  const Bytes body = Bytes{*bytes}.subspan(kResidentHeaderBytes);
  if (magic != kResidentMagic || version != kResidentVersion ||
      body.size() != count * kResidentEntryBytes || checksum(body, database_id) != sum)
    return {};
  std::vector<ResidentPage> pages(count);
  for (ResidentPage& page : pages) {
    page.page = in.take<PageId>();
    page.tree = in.take<TreeId>();
    page.level = in.take<std::uint8_t>();
    page.usage = in.take<std::uint8_t>();
    in.take<std::uint16_t>();
  }
  return pages;
}

}  // namespace swizzle
