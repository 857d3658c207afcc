// The space map's two copies on disk.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <bit>
#include <cstddef>

#include "base/checksum.h"
#include "base/invariant.h"
#include "base/memory/aligned_buffer.h"
#include "storage/space/space_map.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kSpaceMapMagic = 0x5041'4d45'4341'5053;  // "SPACEMAP"
constexpr std::uint32_t kMapVersion = 1;

/// docs/on-disk-format.md lists the offsets. The words of the map follow at kBodyOffset.
struct MapHeader {
  std::uint64_t checksum;  ///< of the header from here on, seeded with the copy's number
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t database_id;
  std::uint64_t generation;
  Lsn begin;
  std::uint64_t page_count;
  std::uint64_t body_bytes;
  std::uint64_t body_checksum;  ///< seeded with the generation
};
static_assert(sizeof(MapHeader) == 72);
static_assert(offsetof(MapHeader, database_id) == 24);
static_assert(offsetof(MapHeader, begin) == 40);
static_assert(offsetof(MapHeader, body_checksum) == 64);

constexpr std::uint64_t kBodyOffset = 4096;

std::uint64_t checksum_of(const MapHeader& header, std::size_t copy) noexcept {
  constexpr std::size_t kBody = sizeof(MapHeader::checksum);
  return checksum(std::as_bytes(std::span{&header, 1}).subspan(kBody), copy);
}

// The header's fields after the checksums.
struct LoadedCopy {
  MapHeader header{};
  std::vector<std::uint64_t> words;
};

// Empty when the copy is damaged: its last write was torn.
Result<std::optional<LoadedCopy>> read_copy(File& file, std::size_t copy,
                                            std::uint64_t database_id) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  if (size < kBodyOffset) return std::nullopt;
  AlignedBuffer head(kBodyOffset);
  RETURN_IF_ERROR(file.read_at(0, head.bytes()));
  LoadedCopy loaded;
  loaded.header = load<MapHeader>(head.data());
  const MapHeader& header = loaded.header;
  if (header.magic != kSpaceMapMagic || header.checksum != checksum_of(header, copy))
    return std::nullopt;
  if (header.version != kMapVersion)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("file \"{}\" has format version {}; this program reads version {}",
                            file.path().native(), header.version, kMapVersion));
  if (header.database_id != database_id)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("file \"{}\" belongs to database {:016x}, not to {:016x}",
                            file.path().native(), header.database_id, database_id));
  if (header.body_bytes == 0) return loaded;
  AlignedBuffer body(header.body_bytes);
  if (size < kBodyOffset + body.size()) return std::nullopt;
  RETURN_IF_ERROR(file.read_at(kBodyOffset, body.bytes()));
  if (checksum(body.bytes(0, header.body_bytes), header.generation) != header.body_checksum)
    return std::nullopt;
  loaded.words.resize(header.body_bytes / sizeof(std::uint64_t));
  std::memcpy(loaded.words.data(), body.data(), header.body_bytes);
  return loaded;
}

Result<> write_copy(File& file, std::size_t copy, std::uint64_t database_id,
                    std::uint64_t generation, const SpaceMap::Snapshot& snapshot) {
  const std::size_t body_bytes = snapshot.words.size() * sizeof(std::uint64_t);
  MapHeader header{};
  header.magic = kSpaceMapMagic;
  header.version = kMapVersion;
  header.database_id = database_id;
  header.generation = generation;
  header.begin = snapshot.begin;
  header.page_count = snapshot.page_count;
  header.body_bytes = body_bytes;
  AlignedBuffer buffer(kBodyOffset + body_bytes);
  if (body_bytes != 0) std::memcpy(buffer.data() + kBodyOffset, snapshot.words.data(), body_bytes);
  header.body_checksum = checksum(buffer.bytes(kBodyOffset, body_bytes), generation);
  header.checksum = checksum_of(header, copy);
  store(buffer.data(), header);
  // One write whose blocks may arrive in any order: the checksums tell if all did.
  RETURN_IF_ERROR(file.write_at(0, buffer.bytes()));
  return file.sync();
}

std::uint64_t end_of(const std::vector<std::uint64_t>& words) noexcept {
  for (std::uint64_t word = words.size(); word-- > 0;) {
    if (words[word] != 0)
      return word * 64 + 64 - static_cast<std::uint64_t>(std::countl_zero(words[word]));
  }
  return 0;
}

// True if the candidate serves a replay of the log from `replay_from` to `not_after` better.
bool serves_better(const std::optional<LoadedCopy>& candidate,
                   const std::optional<LoadedCopy>& best, Lsn replay_from, Lsn not_after) noexcept {
  if (!candidate) return false;
  const MapHeader& header = candidate->header;
  if (header.begin < replay_from || header.begin > not_after) return false;
  if (!best || header.begin < best->header.begin) return true;
  return header.begin == best->header.begin && header.generation > best->header.generation;
}

}  // namespace

Result<> SpaceMap::create(FileSystem& files, const std::filesystem::path& directory,
                          std::uint64_t database_id, const Snapshot& map) {
  for (std::size_t i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(auto file,
                     files.open(directory / kFileNames[i], OpenMode::create_new, {.direct = true}));
    RETURN_IF_ERROR(write_copy(*file, i, database_id, i, map));
  }
  return files.sync_directory(directory);
}

Result<bool> SpaceMap::has_copy_for(FileSystem& files, const std::filesystem::path& directory,
                                    std::uint64_t database_id, Lsn replay_from) {
  for (std::size_t i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(const bool is_there, files.exists(directory / kFileNames[i]));
    if (!is_there) continue;
    ASSIGN_OR_RETURN(const auto file,
                     files.open(directory / kFileNames[i], OpenMode::read_only, {.direct = true}));
    ASSIGN_OR_RETURN(const auto copy, read_copy(*file, i, database_id));
    if (serves_better(copy, std::nullopt, replay_from, Lsn::max)) return true;
  }
  return false;
}

Result<std::unique_ptr<SpaceMap>> SpaceMap::load(FileSystem& files,
                                                 const std::filesystem::path& directory,
                                                 Volume& volume, Lsn replay_from, Lsn not_after) {
  std::unique_ptr<SpaceMap> map(new SpaceMap(volume));
  std::optional<LoadedCopy> best;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(map->copies_[i], files.open(directory / kFileNames[i],
                                                 OpenMode::open_or_create, {.direct = true}));
    ASSIGN_OR_RETURN(auto copy, read_copy(*map->copies_[i], i, volume.database_id()));
    if (!copy)
      spdlog::warn(
          "file \"{}\", a copy of the space map, is missing or damaged; the next "
          "checkpoint writes it again",
          map->copies_[i]->path().native());
    if (copy) map->generation_ = std::max(map->generation_, copy->header.generation);
    if (serves_better(copy, best, replay_from, not_after)) best = std::move(copy);
  }
  if (!best)
    return fail(sqlstate::data_corrupted,
                fmt::format("neither \"{}\" nor \"{}\" is a whole space map that the log from {} "
                            "on completes",
                            map->copies_[0]->path().native(), map->copies_[1]->path().native(),
                            raw(replay_from)));
  RETURN_IF_ERROR(files.sync_directory(directory));
  const std::uint64_t end = end_of(best->words);
  if (end > volume.page_count())
    return fail(
        Error{sqlstate::data_corrupted,
              fmt::format("file \"{}\" is truncated: it has {} pages, but page {} is in use",
                          volume.path().native(), volume.page_count(), end - 1)}
            .with_hint(fmt::format("Put the whole file back. To go on without the pages behind its "
                                   "end, make it as long as it was: truncate -s {} \"{}\". Reading "
                                   "one of them is an error then, and all else is there.",
                                   end * kPageBytes, volume.path().native())));
  map->adopt(best->words, best->header.generation);
  auto kept = map->keep_room_for_copies(volume.page_count());
  if (!kept && kept.error().state() != sqlstate::disk_full) return fail(std::move(kept).error());
  return map;
}

Result<> SpaceMap::keep_room_for_copies(std::uint64_t pages) {
  const std::uint64_t groups = (pages + kGroupPages - 1) / kGroupPages;
  const std::uint64_t bytes = kBodyOffset + groups * kGroupWords * sizeof(std::uint64_t);
  if (bytes <= copy_bytes_) return {};
  for (const auto& copy : copies_) RETURN_IF_ERROR(copy->allocate(0, bytes));
  copy_bytes_ = bytes;
  return {};
}

void SpaceMap::adopt(const std::vector<std::uint64_t>& words, std::uint64_t generation) {
  // The next persist() must not overwrite the copy that recovery relies on.
  if (generation % 2 != generation_ % 2) ++generation_;
  const std::lock_guard hold(mutex_);
  end_ = volume_.page_count();
  cover(std::max<std::uint64_t>(end_, words.size() * 64));
  for (std::uint64_t word = 0; word < words.size(); ++word) {
    const auto pages = static_cast<std::uint32_t>(std::popcount(words[word]));
    allocated_[word] = words[word];
    taken_[word] |= words[word];
    group_free_[word / kGroupWords] -= pages;
    allocated_count_.fetch_add(pages, std::memory_order_relaxed);
  }
  persisted_end_ = end_of(words);
}

Result<> SpaceMap::persist(const Snapshot& snapshot) {
  const std::uint64_t generation = generation_ + 1;
  const std::size_t copy = generation % 2;
  RETURN_IF_ERROR(write_copy(*copies_[copy], copy, volume_.database_id(), generation, snapshot));
  generation_ = generation;
  const std::lock_guard hold(mutex_);
  persisted_end_ = end_of(snapshot.words);
  return {};
}

}  // namespace swizzle
