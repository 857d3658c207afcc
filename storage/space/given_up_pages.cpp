#include "storage/space/given_up_pages.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/checksum.h"
#include "base/field_codec.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kGivenUpMagic = 0x0a0d505547455a53;  // "SZEGUP\r\n"
constexpr std::uint32_t kGivenUpVersion = 1;
/// Magic, version, count, checksum of the entries.
constexpr std::size_t kGivenUpHeaderBytes = 24;
constexpr std::size_t kEntryBytes = 16;

std::unexpected<Error> damaged_given_up(const std::filesystem::path& path) {
  return fail(Error{
      sqlstate::data_corrupted,
      fmt::format("file \"{}\", which lists pages that were given up, is damaged", path.native())}
                  .with_hint("Pages that it listed may be old. Remove it to start all the same, "
                             "and check the database with \"swizzle-backup check\"."));
}

Result<> write_file(FileSystem& files, const std::filesystem::path& directory, Bytes bytes) {
  const auto path = directory / GivenUpPages::kFileName;
  const auto unfinished = directory / (std::string{GivenUpPages::kFileName} + ".tmp");
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, bytes));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files.rename(unfinished, path));
  return files.sync_directory(directory);
}

}  // namespace

Result<std::unique_ptr<GivenUpPages>> GivenUpPages::open(FileSystem& files,
                                                         std::filesystem::path directory,
                                                         std::uint64_t database_id,
                                                         WrittenLsns& written) {
  std::unique_ptr<GivenUpPages> pages(
      new GivenUpPages(files, std::move(directory), database_id, written));
  RETURN_IF_ERROR(pages->read());
  return pages;
}

Result<> GivenUpPages::read() {
  const auto path = directory_ / kFileName;
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  if (!exists) return {};
  ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  if (size < kGivenUpHeaderBytes || size > kGivenUpHeaderBytes + kMost * kEntryBytes)
    return damaged_given_up(path);
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(file->read_at(0, bytes));
  FieldReader in(bytes);
  const auto magic = in.take<std::uint64_t>();
  const auto version = in.take<std::uint32_t>();
  const auto count = in.take<std::uint32_t>();
  const auto sum = in.take<std::uint64_t>();
  const Bytes body = Bytes{bytes}.subspan(kGivenUpHeaderBytes);
  if (magic != kGivenUpMagic || body.size() != count * kEntryBytes ||
      checksum(body, database_id_) != sum)
    return damaged_given_up(path);
  if (version != kGivenUpVersion)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("file \"{}\" has format version {}; this program reads version {}",
                            path.native(), version, kGivenUpVersion));
  // No other thread knows this object yet.
  for (std::size_t at = 0; at < body.size(); at += kEntryBytes) {
    const auto page = load<PageId>(body.data() + at);
    const auto needed = load<Lsn>(body.data() + at + sizeof page);
    written_.pin(page);
    written_.bring_in(page);
    written_.note(page, needed);
    Entry entry;
    entry.needed = needed;
    entry.message =
        fmt::format("page {} was given up: it is older than LSN {}, where the log left it",
                    raw(page), raw(needed));
    entry.hint = "Restore the page's table from a backup.";
    if (!is_void(page, entry)) entries_.insert_or_assign(page, std::move(entry));
  }
  count_.store(entries_.size(), std::memory_order_relaxed);
  if (!entries_.empty())
    spdlog::warn("{} pages were given up before: reading them is an error, see file \"{}\"",
                 entries_.size(), path.native());
  return {};
}

void GivenUpPages::give_up(PageId page, Lsn needed, const Error& why) {
  // Descents look it up under latches.
  written_.pin(page);
  written_.bring_in(page);
  {
    const std::lock_guard hold(mutex_);
    written_.note(page, needed);
    needed = written_.in_memory(page);
    const auto known = entries_.find(page);
    if (known != entries_.end() && !is_void(page, known->second)) return;
    if (known == entries_.end() && entries_.size() >= kMost) return;
    entries_.insert_or_assign(page, Entry{needed, why.message(), why.detail(), why.hint()});
    is_changed_ = true;
    count_.store(entries_.size(), std::memory_order_relaxed);
  }
  spdlog::error("{}{}{}; the page is given up: reading it is an error", why.message(),
                why.detail().empty() ? "" : ": ", why.detail());
}

void GivenUpPages::take_back(PageId page) {
  const std::lock_guard hold(mutex_);
  if (entries_.erase(page) == 0) return;
  is_changed_ = true;
  count_.store(entries_.size(), std::memory_order_relaxed);
}

std::optional<Error> GivenUpPages::find(PageId page) const {
  if (empty()) return std::nullopt;
  const std::lock_guard hold(mutex_);
  const auto known = entries_.find(page);
  if (known == entries_.end() || is_void(page, known->second)) return std::nullopt;
  return Error{sqlstate::data_corrupted, known->second.message}
      .with_detail(known->second.detail)
      .with_hint(known->second.hint);
}

bool GivenUpPages::contains(PageId page) const noexcept {
  if (empty()) return false;
  const std::lock_guard hold(mutex_);
  const auto known = entries_.find(page);
  return known != entries_.end() && !is_void(page, known->second);
}

std::vector<PageId> GivenUpPages::list() const {
  const std::lock_guard hold(mutex_);
  std::vector<PageId> pages;
  for (const auto& [page, entry] : entries_)
    if (!is_void(page, entry)) pages.push_back(page);
  std::ranges::sort(pages);
  return pages;
}

// A page whose needed LSN is unknown fails its checksum, which the next start finds again.
std::vector<std::byte> GivenUpPages::encode() const {
  const std::lock_guard hold(mutex_);
  std::vector<std::byte> body;
  FieldWriter entries(body);
  std::uint32_t count = 0;
  for (const auto& [page, entry] : entries_) {
    if (entry.needed == Lsn::none || is_void(page, entry)) continue;
    entries.put(page);
    entries.put(entry.needed);
    ++count;
  }
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(kGivenUpMagic);
  out.put(kGivenUpVersion);
  out.put(count);
  out.put(checksum(body, database_id_));
  out.put_bytes(body);
  return bytes;
}

Result<> GivenUpPages::persist() {
  {
    const std::lock_guard hold(mutex_);
    if (!is_changed_) return {};
    is_changed_ = false;
    std::erase_if(entries_,
                  [this](const auto& entry) { return is_void(entry.first, entry.second); });
    count_.store(entries_.size(), std::memory_order_relaxed);
  }
  auto written = write_file(files_, directory_, encode());
  if (written) return {};
  const std::lock_guard hold(mutex_);
  is_changed_ = true;
  return written.error().state() == sqlstate::disk_full ? Result<>{} : std::move(written);
}

Result<> GivenUpPages::copy_to(FileSystem& files, const std::filesystem::path& directory) const {
  if (list().empty()) return {};
  return write_file(files, directory, encode());
}

}  // namespace swizzle
