#include "storage/space/written_lsns_file.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/memory/aligned_buffer.h"

namespace swizzle {
namespace {

/// docs/on-disk-format.md.
struct DiskBlock {
  std::uint64_t checksum;  ///< of the rest, seeded with the block's number and the database's id
  WrittenLsns::Block lsns;
};
constexpr std::size_t kBlockBytes = 4096;
static_assert(sizeof(DiskBlock) == kBlockBytes);

std::uint64_t checksum_of(const DiskBlock& block, std::uint64_t number,
                          std::uint64_t database_id) noexcept {
  return checksum(std::as_bytes(std::span{block.lsns}), database_id ^ number);
}

}  // namespace

Result<std::unique_ptr<WrittenLsnsFile>> WrittenLsnsFile::open(
    FileSystem& files, const std::filesystem::path& directory, std::uint64_t database_id,
    WrittenLsns& lsns) {
  ASSIGN_OR_RETURN(const bool is_there, files.exists(directory / kFileName));
  ASSIGN_OR_RETURN(auto opened, files.open(directory / kFileName,
                                           is_there ? OpenMode::read_write : OpenMode::create_new,
                                           {.direct = true}));
  if (!is_there) RETURN_IF_ERROR(files.sync_directory(directory));
  std::unique_ptr<WrittenLsnsFile> file(new WrittenLsnsFile(std::move(opened), database_id, lsns));
  RETURN_IF_ERROR(file->read());
  return file;
}

Result<> WrittenLsnsFile::read() {
  constexpr std::size_t kAtOnce = 256;
  ASSIGN_OR_RETURN(const std::uint64_t size, file_->size());
  const std::uint64_t blocks = size / kBlockBytes;
  AlignedBuffer buffer(std::min<std::uint64_t>(blocks, kAtOnce) * kBlockBytes + kBlockBytes);
  for (std::uint64_t first = 0; first < blocks; first += kAtOnce) {
    const std::uint64_t count = std::min<std::uint64_t>(kAtOnce, blocks - first);
    RETURN_IF_ERROR(file_->read_at(first * kBlockBytes, buffer.bytes(0, count * kBlockBytes)));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto block = load<DiskBlock>(buffer.data() + i * kBlockBytes);
      if (block.checksum == checksum_of(block, first + i, database_id_))
        lsns_.adopt(first + i, block.lsns);
    }
  }
  return {};
}

Result<> WrittenLsnsFile::persist() {
  AlignedBuffer buffer(kBlockBytes);
  Result<> outcome;
  bool has_written = false;
  lsns_.keep_changed([&](std::uint64_t number, const WrittenLsns::Block& lsns) {
    if (!outcome) return false;
    DiskBlock block{0, lsns};
    block.checksum = checksum_of(block, number, database_id_);
    store(buffer.data(), block);
    outcome = file_->write_at(number * kBlockBytes, buffer.bytes());
    has_written = has_written || outcome;
    return outcome.has_value();
  });
  if (!outcome && outcome.error().state() != sqlstate::disk_full) return outcome;
  return has_written ? file_->sync() : Result<>{};
}

}  // namespace swizzle
