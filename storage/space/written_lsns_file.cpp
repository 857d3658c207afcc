#include "storage/space/written_lsns_file.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/checksum.h"
#include "base/memory/aligned_buffer.h"

namespace swizzle {
namespace {

/// A block of the file (docs/on-disk-format.md).
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
  ASSIGN_OR_RETURN(const std::uint64_t size, opened->size());
  std::unique_ptr<WrittenLsnsFile> file(
      new WrittenLsnsFile(std::move(opened), database_id, size / kBlockBytes, lsns));
  lsns.set_source(file.get());
  return file;
}

bool WrittenLsnsFile::read_block(std::uint64_t number, WrittenLsns::Block& into) noexcept {
  if (number >= blocks_.load(std::memory_order_acquire)) return false;
  AlignedBuffer buffer(kBlockBytes);
  if (auto read = file_->read_at(number * kBlockBytes, buffer.bytes()); !read) {
    spdlog::warn(
        "block {} of file \"{}\" cannot be read, so lost writes of {} pages would not be seen: {}",
        number, kFileName, WrittenLsns::kBlockPages, read.error().message());
    return false;
  }
  const auto block = load<DiskBlock>(buffer.data());
  if (block.checksum != checksum_of(block, number, database_id_)) return false;
  into = block.lsns;
  return true;
}

bool WrittenLsnsFile::write_block(std::uint64_t number, const WrittenLsns::Block& lsns) noexcept {
  AlignedBuffer buffer(kBlockBytes);
  DiskBlock block{0, lsns};
  block.checksum = checksum_of(block, number, database_id_);
  store(buffer.data(), block);
  auto written = file_->write_at(number * kBlockBytes, buffer.bytes());
  if (!written) {
    const std::lock_guard hold(failure_mutex_);
    if (failure_) failure_ = std::move(written);
    return false;
  }
  has_unsynced_.store(true, std::memory_order_release);
  // There is one writer at a time.
  if (number >= blocks_.load(std::memory_order_relaxed))
    blocks_.store(number + 1, std::memory_order_release);
  return true;
}

Result<> WrittenLsnsFile::persist() {
  lsns_.save_changed();
  Result<> failure;
  {
    const std::lock_guard hold(failure_mutex_);
    failure = std::exchange(failure_, {});
  }
  if (!failure && failure.error().state() != sqlstate::disk_full) return failure;
  return has_unsynced_.exchange(false) ? file_->sync() : Result<>{};
}

}  // namespace swizzle
