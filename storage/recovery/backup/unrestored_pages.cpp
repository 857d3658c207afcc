#include "storage/recovery/backup/unrestored_pages.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/checksum.h"
#include "base/field_codec.h"
#include "storage/page/page.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kMapMagic = 0x0a0d545345525a53;  // "SZREST\r\n"
constexpr std::uint64_t kMapVersion = 1;
/// Magic, version, number of pages, checksum of the words.
constexpr std::size_t kMapHeaderBytes = 32;

}  // namespace

void UnrestoredPages::Map::reset(std::uint64_t pages, bool has_all) {
  pages_ = pages;
  words_ = std::make_unique<std::atomic<std::uint64_t>[]>(word_count());
  if (!has_all || pages <= SpaceMap::kFirstPage) return;
  std::vector<std::uint64_t> words(word_count(), ~std::uint64_t{0});
  words.front() &= ~std::uint64_t{0} << SpaceMap::kFirstPage;
  if (pages % 64 != 0) words.back() &= (std::uint64_t{1} << (pages % 64)) - 1;
  load(words);
}

bool UnrestoredPages::Map::has(PageId page) const noexcept {
  const std::uint64_t number = raw(page);
  if (number >= pages_ || count() == 0) return false;
  // Acquire: a thread that finds the page gone sees what was written before.
  return ((words_[number / 64].load(std::memory_order_acquire) >> (number % 64)) & 1U) != 0;
}

void UnrestoredPages::Map::add(PageId page) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (raw(page) % 64);
  const std::uint64_t old = words_[raw(page) / 64].fetch_or(bit, std::memory_order_relaxed);
  if ((old & bit) == 0) count_.fetch_add(1, std::memory_order_relaxed);
}

bool UnrestoredPages::Map::remove(PageId page) noexcept {
  if (!has(page)) return false;
  const std::uint64_t bit = std::uint64_t{1} << (raw(page) % 64);
  // Release: publishes what made the page leave the set.
  const std::uint64_t old = words_[raw(page) / 64].fetch_and(~bit, std::memory_order_acq_rel);
  if ((old & bit) == 0) return false;
  // Release: as above, for count().
  count_.fetch_sub(1, std::memory_order_release);
  return true;
}

std::optional<PageId> UnrestoredPages::Map::next(PageId from) const noexcept {
  if (count() == 0 || raw(from) >= pages_) return std::nullopt;
  std::uint64_t mask = ~std::uint64_t{0} << (raw(from) % 64);
  for (std::size_t i = raw(from) / 64; i < word_count(); ++i, mask = ~std::uint64_t{0}) {
    const std::uint64_t word = words_[i].load(std::memory_order_acquire) & mask;
    if (word != 0) return PageId{i * 64 + static_cast<std::uint64_t>(std::countr_zero(word))};
  }
  return std::nullopt;
}

std::vector<std::uint64_t> UnrestoredPages::Map::words() const {
  std::vector<std::uint64_t> all(word_count());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = words_[i].load(std::memory_order_acquire);
  return all;
}

void UnrestoredPages::Map::load(std::span<const std::uint64_t> words) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words_[i].store(words[i], std::memory_order_relaxed);
    count += static_cast<std::uint64_t>(std::popcount(words[i]));
  }
  count_.store(count, std::memory_order_relaxed);
}

UnrestoredPages::UnrestoredPages(FileSystem& files, std::filesystem::path directory,
                                 std::uint64_t database_id, BackupChain chain, RestoreState state)
    : files_(files),
      directory_(std::move(directory)),
      database_id_(database_id),
      chain_(std::move(chain)),
      state_(std::move(state)) {}

Result<std::unique_ptr<UnrestoredPages>> UnrestoredPages::open(
    FileSystem& files, const std::filesystem::path& directory, std::uint64_t database_id) {
  ASSIGN_OR_RETURN(auto state, read_restore_state(files, directory));
  if (!state || state->phase == RestoreState::Phase::complete) {
    ASSIGN_OR_RETURN(const bool is_left, files.exists(directory / kFileName));
    if (is_left) RETURN_IF_ERROR(files.remove(directory / kFileName));
    return nullptr;
  }
  if (state->phase == RestoreState::Phase::begun)
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("directory \"{}\" was being filled by a restore on demand, which "
                                  "was interrupted",
                                  directory.native())}
                    .with_hint("Begin it again, with the same backups."));
  constexpr const char* kKeep =
      "The database takes pages from its backups until the restore is complete: put them back as "
      "they were.";
  auto chain = BackupChain::open(files, state->backups);
  if (!chain) return fail(std::move(chain).error().with_hint(kKeep));
  if (chain->label().id != state->backup_id || chain->control().database_id != database_id)
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" is not the backup that the database is restored from",
                                  chain->newest().native())}
                    .with_hint(kKeep));
  std::unique_ptr<UnrestoredPages> pages(
      new UnrestoredPages(files, directory, database_id, *std::move(chain), *std::move(state)));
  RETURN_IF_ERROR(pages->read_map());
  return pages;
}

Result<> UnrestoredPages::read_map() {
  absent_.reset(chain_.page_count(), true);
  const auto path = directory_ / kFileName;
  ASSIGN_OR_RETURN(const bool is_there, files_.exists(path));
  if (!is_there) return {};
  ASSIGN_OR_RETURN(const auto file, files_.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  std::vector<std::uint64_t> words = absent_.words();
  const std::size_t word_bytes = words.size() * sizeof(std::uint64_t);
  if (size == kMapHeaderBytes + word_bytes) {
    std::vector<std::byte> bytes(size);
    RETURN_IF_ERROR(file->read_at(0, bytes));
    FieldReader in(bytes);
    const bool is_known = in.take<std::uint64_t>() == kMapMagic &&
                          in.take<std::uint64_t>() == kMapVersion &&
                          in.take<std::uint64_t>() == absent_.pages();
    const auto sum = in.take<std::uint64_t>();
    if (is_known && sum == checksum(in.rest(), database_id_)) {
      std::ranges::copy(in.rest(), std::as_writable_bytes(std::span{words}).begin());
      absent_.load(words);
      return {};
    }
  }
  spdlog::warn("file \"{}\" is damaged: every page is looked for in the database and the backups",
               path.native());
  return {};
}

void UnrestoredPages::find_lacking(const SpaceMap& map) {
  lacking_.reset(absent_.pages(), false);
  for (auto page = absent_.next(PageId{0}); page; page = absent_.next(PageId{raw(*page) + 1}))
    if (map.is_allocated(*page)) lacking_.add(*page);
  lacking_at_start_ = lacking_.count();
}

Result<> UnrestoredPages::read(PageId page, std::byte* into) {
  return chain_.read_page(page, into);
}

void UnrestoredPages::written(std::span<const PageImage> images) noexcept {
  if (absent_.count() == 0) return;
  for (const PageImage& image : images)
    if (absent_.remove(image.page)) is_changed_.store(true, std::memory_order_relaxed);
}

Result<> UnrestoredPages::persist() {
  if (is_complete() || !is_changed_.exchange(false)) return {};
  const std::vector<std::uint64_t> words = absent_.words();
  const Bytes body = std::as_bytes(std::span{words});
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(kMapMagic);
  out.put(kMapVersion);
  out.put(absent_.pages());
  out.put(checksum(body, database_id_));
  out.put_bytes(body);
  const auto save = [&]() -> Result<> {
    const auto unfinished = directory_ / (std::string{kFileName} + ".tmp");
    {
      ASSIGN_OR_RETURN(const auto file, files_.open(unfinished, OpenMode::open_or_create, {}));
      RETURN_IF_ERROR(file->truncate(0));
      RETURN_IF_ERROR(file->write_at(0, bytes));
      RETURN_IF_ERROR(file->sync());
    }
    RETURN_IF_ERROR(files_.rename(unfinished, directory_ / kFileName));
    return files_.sync_directory(directory_);
  };
  auto saved = save();
  if (saved) return {};
  is_changed_.store(true, std::memory_order_relaxed);
  return saved.error().state() == sqlstate::disk_full ? Result<>{} : std::move(saved);
}

Result<> UnrestoredPages::complete() {
  RestoreState state = state_;
  state.phase = RestoreState::Phase::complete;
  RETURN_IF_ERROR(write_restore_state(files_, directory_, state));
  // Release: a thread that finds the restore complete sees the pages.
  is_complete_.store(true, std::memory_order_release);
  return {};
}

}  // namespace swizzle
