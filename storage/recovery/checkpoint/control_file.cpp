#include "storage/recovery/checkpoint/control_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/invariant.h"
#include "base/memory/aligned_buffer.h"

namespace swizzle {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'W', 'I', 'Z', 'Z', 'C', 'T', 'L'};

/// docs/on-disk-format.md lists the offsets. Dirty pages, active transactions and the trees that
/// these have changed follow.
struct ControlHeader {
  std::array<char, 8> magic;
  std::uint32_t format_version;
  /// Number of trees at the end. A wrong number makes a wrong checksum.
  std::uint32_t tree_count;
  std::uint64_t checksum;  ///< of everything after it, seeded with the generation
  std::uint64_t generation;
  std::uint64_t database_id;
  std::uint64_t log_id;
  std::uint64_t log_segment_bytes;
  PageId directory_root;
  Lsn begin;
  Lsn redo_from;
  Lsn keep_from;
  TxnId next_txn;
  std::int64_t taken_at_us;
  std::uint64_t dirty_count;
  std::uint64_t active_count;
  Control::Logging logging;
  Control::Shutdown shutdown;
  std::array<std::uint8_t, 2> padding;
  std::uint32_t timeline;  ///< 0, as written before there were timelines: 1
};
static_assert(offsetof(ControlHeader, timeline) == 124);
static_assert(sizeof(ControlHeader) == 128);
static_assert(offsetof(ControlHeader, checksum) == 16);
static_assert(offsetof(ControlHeader, begin) == 64);
static_assert(offsetof(ControlHeader, dirty_count) == 104);
static_assert(sizeof(DirtyPage) == 24);

/// An active transaction.
struct StoredTransaction {
  TxnId id;
  Lsn first;
  Lsn last;
  // Since version 3.
  std::uint64_t undo_bytes;
  std::uint32_t tree_count;
  std::uint32_t is_known;
};
static_assert(sizeof(StoredTransaction) == 40);
constexpr std::size_t kTransactionBytesBefore3 = 24;
static_assert(offsetof(StoredTransaction, undo_bytes) == kTransactionBytesBefore3);

/// A tree that an active transaction has changed.
struct StoredTree {
  TreeId tree;
  std::uint32_t records;
};
static_assert(sizeof(StoredTree) == 8);

/// A dirty page in format version 1.
struct DirtyPageOfVersion1 {
  PageId page;
  Lsn since;
};
static_assert(sizeof(DirtyPageOfVersion1) == 16);
constexpr std::uint32_t kOldestVersion = 1;

constexpr std::size_t kChecked = offsetof(ControlHeader, generation);

struct Copy {
  std::uint64_t generation = 0;
  Control control;
};

std::size_t transaction_bytes(std::uint32_t version) noexcept {
  return version < 3 ? kTransactionBytesBefore3 : sizeof(StoredTransaction);
}

std::size_t size_of(const ControlHeader& header) noexcept {
  const std::uint32_t version = header.format_version;
  const std::size_t page = version == 1 ? sizeof(DirtyPageOfVersion1) : sizeof(DirtyPage);
  const std::size_t trees = version < 3 ? 0 : header.tree_count * sizeof(StoredTree);
  return sizeof(ControlHeader) + header.dirty_count * page +
         header.active_count * transaction_bytes(version) + trees;
}

std::byte* store_transactions(std::span<const ActiveTransaction> active, std::byte* at) noexcept {
  for (const ActiveTransaction& transaction : active) {
    const OpenChanges& changes = transaction.changes;
    store(at, StoredTransaction{.id = transaction.id,
                                .first = transaction.first,
                                .last = transaction.last,
                                .undo_bytes = changes.undo_bytes,
                                .tree_count = static_cast<std::uint32_t>(changes.trees.size()),
                                .is_known = changes.is_known ? 1U : 0U});
    at += sizeof(StoredTransaction);
  }
  for (const ActiveTransaction& transaction : active) {
    for (const OpenChanges::OfTree& tree : transaction.changes.trees) {
      const std::uint64_t records = std::min<std::uint64_t>(tree.records, UINT32_MAX);
      store(at, StoredTree{tree.tree, static_cast<std::uint32_t>(records)});
      at += sizeof(StoredTree);
    }
  }
  return at;
}

/// Nothing if the counts do not fit each other.
std::optional<std::vector<ActiveTransaction>> load_transactions(const ControlHeader& header,
                                                                const std::byte* at) {
  std::vector<ActiveTransaction> active;
  const std::byte* tree = at + header.active_count * transaction_bytes(header.format_version);
  std::uint32_t trees_left = header.format_version < 3 ? 0 : header.tree_count;
  for (std::uint64_t i = 0; i < header.active_count; ++i) {
    StoredTransaction stored{};
    std::memcpy(&stored, at, transaction_bytes(header.format_version));
    at += transaction_bytes(header.format_version);
    if (stored.tree_count > trees_left) return std::nullopt;
    trees_left -= stored.tree_count;
    ActiveTransaction& transaction = active.emplace_back(
        stored.id, stored.first, stored.last,
        OpenChanges{.undo_bytes = stored.undo_bytes, .is_known = stored.is_known == 1});
    for (std::uint32_t n = 0; n < stored.tree_count; ++n, tree += sizeof(StoredTree)) {
      const auto of = load<StoredTree>(tree);
      transaction.changes.trees.push_back({of.tree, of.records});
    }
  }
  if (trees_left != 0) return std::nullopt;
  return active;
}

DirtyPage load_dirty_page(std::uint32_t version, const std::byte*& at) noexcept {
  if (version == 1) {
    const auto page = load<DirtyPageOfVersion1>(at);
    at += sizeof page;
    return {page.page, page.since};
  }
  const auto page = load<DirtyPage>(at);
  at += sizeof page;
  return page;
}

// At least so much is written every time, so that a full disk has the blocks for some thousand
// dirty pages.
constexpr std::size_t kLeastBytes = std::size_t{64} << 10U;

AlignedBuffer encode(const Control& control, std::uint64_t generation) {
  const Checkpoint& checkpoint = control.checkpoint;
  ControlHeader header{};
  header.magic = kMagic;
  header.format_version = ControlFile::kFormatVersion;
  header.generation = generation;
  header.database_id = control.database_id;
  header.log_id = control.log_id;
  header.log_segment_bytes = control.log_segment_bytes;
  header.directory_root = control.directory_root;
  header.begin = checkpoint.begin;
  header.redo_from = checkpoint.redo_from;
  header.keep_from = checkpoint.keep_from;
  header.next_txn = checkpoint.next_txn;
  header.taken_at_us = checkpoint.taken_at_us;
  header.dirty_count = checkpoint.dirty.size();
  header.active_count = checkpoint.active.size();
  std::size_t trees = 0;
  for (const ActiveTransaction& transaction : checkpoint.active)
    trees += transaction.changes.trees.size();
  header.tree_count = static_cast<std::uint32_t>(trees);
  header.logging = control.logging;
  header.shutdown = control.shutdown;
  header.timeline = control.timeline;

  const std::size_t size = size_of(header);
  AlignedBuffer buffer(std::max(size, kLeastBytes));
  store(buffer.data(), header);
  std::byte* at = buffer.data() + sizeof header;
  for (const DirtyPage& page : checkpoint.dirty) {
    store(at, page);
    at += sizeof page;
  }
  at = store_transactions(checkpoint.active, at);
  INVARIANT(at == buffer.data() + size);
  store(buffer.data() + offsetof(ControlHeader, checksum),
        checksum(buffer.bytes(kChecked, size - kChecked), generation));
  return buffer;
}

// Decodes a copy. Returns nothing when the copy is not whole.
Result<std::optional<Copy>> decode(const File& file, Bytes bytes) {
  if (bytes.size() < sizeof(ControlHeader)) return std::nullopt;
  const auto header = load<ControlHeader>(bytes.data());
  if (header.magic != kMagic) return std::nullopt;
  if (header.format_version < kOldestVersion || header.format_version > ControlFile::kFormatVersion)
    return fail(
        sqlstate::object_not_in_prerequisite_state,
        fmt::format("file \"{}\" has format version {}; this program reads versions {} to {}",
                    file.path().native(), header.format_version, kOldestVersion,
                    ControlFile::kFormatVersion));
  const std::uint64_t most = bytes.size() / sizeof(DirtyPageOfVersion1);
  if (header.dirty_count > most || header.active_count > most) return std::nullopt;
  const std::size_t size = size_of(header);
  if (size > bytes.size() ||
      checksum(bytes.subspan(kChecked, size - kChecked), header.generation) != header.checksum)
    return std::nullopt;

  Copy copy;
  copy.generation = header.generation;
  copy.control = {.database_id = header.database_id,
                  .log_id = header.log_id,
                  .log_segment_bytes = header.log_segment_bytes,
                  .timeline = std::max(header.timeline, std::uint32_t{1}),
                  .directory_root = header.directory_root,
                  .logging = header.logging,
                  .shutdown = header.shutdown,
                  .checkpoint = {.begin = header.begin,
                                 .redo_from = header.redo_from,
                                 .keep_from = header.keep_from,
                                 .next_txn = header.next_txn,
                                 .taken_at_us = header.taken_at_us,
                                 .dirty = {},
                                 .active = {}}};
  const std::byte* at = bytes.data() + sizeof header;
  for (std::uint64_t i = 0; i < header.dirty_count; ++i)
    copy.control.checkpoint.dirty.push_back(load_dirty_page(header.format_version, at));
  auto active = load_transactions(header, at);
  if (!active) return std::nullopt;
  copy.control.checkpoint.active = *std::move(active);
  return copy;
}

Result<std::optional<Copy>> read_copy(FileSystem& files, const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return std::nullopt;
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_only, {.direct = true}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  const std::size_t whole_blocks = size / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
  if (whole_blocks == 0) return std::nullopt;
  AlignedBuffer buffer(whole_blocks);
  RETURN_IF_ERROR(file->read_at(0, buffer.bytes()));
  return decode(*file, buffer.bytes());
}

Result<> write_copy(FileSystem& files, const std::filesystem::path& path, const Control& control,
                    std::uint64_t generation) {
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::open_or_create, {.direct = true}));
  AlignedBuffer buffer = encode(control, generation);
  RETURN_IF_ERROR(file->write_at(0, buffer.bytes()));
  return file->sync();
}

}  // namespace

Result<> ControlFile::create(FileSystem& files, const std::filesystem::path& directory,
                             const Control& control) {
  for (std::uint64_t generation = 0; generation < kFileNames.size(); ++generation)
    RETURN_IF_ERROR(write_copy(files, directory / kFileNames[generation], control, generation));
  return files.sync_directory(directory);
}

Result<std::unique_ptr<ControlFile>> ControlFile::open(FileSystem& files,
                                                       const std::filesystem::path& directory) {
  std::unique_ptr<ControlFile> opened(new ControlFile(files, directory));
  bool found = false;
  for (const char* name : kFileNames) {
    ASSIGN_OR_RETURN(auto copy, read_copy(files, directory / name));
    if (!copy) {
      opened->one_copy_lost_ = true;
    } else if (found && copy->generation < opened->generation_) {
      opened->older_ = std::move(copy->control);
    } else {
      if (found) opened->older_ = std::move(opened->control_);
      found = true;
      opened->generation_ = copy->generation;
      opened->control_ = std::move(copy->control);
    }
  }
  if (!found)
    return fail(Error{
        sqlstate::data_corrupted,
        fmt::format("neither \"{}\" nor \"{}\" is a whole control file",
                    (directory / kFileNames[0]).native(), (directory / kFileNames[1]).native())}
                    .with_hint("Restore the directory from a backup."));
  return opened;
}

void ControlFile::fall_back() noexcept {
  // A promotion is not undone.
  older_->timeline = std::max(older_->timeline, control_.timeline);
  control_ = std::move(*older_);
  older_.reset();
  // The two copies are of consecutive generations.
  --generation_;
}

Result<> ControlFile::write(const Control& control) {
  const std::uint64_t generation = generation_ + 1;
  const auto path = directory_ / kFileNames[generation % kFileNames.size()];
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  RETURN_IF_ERROR(write_copy(files_, path, control, generation));
  if (!exists) RETURN_IF_ERROR(files_.sync_directory(directory_));
  generation_ = generation;
  control_ = control;
  one_copy_lost_ = false;
  older_.reset();
  return {};
}

}  // namespace swizzle
