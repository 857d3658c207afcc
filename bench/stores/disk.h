#pragma once

#include <filesystem>
#include <memory>

#include "base/io/posix_file_system.h"
#include "base/result.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"
#include "storage/buffer/cleaner.h"
#include "storage/space/data_file.h"

namespace swizzle::bench {

/// An engine's data file without log or transactions: volume, space map and double-write area.
class Disk {
 public:
  static Result<std::unique_ptr<Disk>> create(const std::filesystem::path& directory);

  [[nodiscard]] PageStore& pages() noexcept { return *data_file_; }
  [[nodiscard]] Volume& volume() noexcept { return *volume_; }
  [[nodiscard]] SpaceMap& map() noexcept { return *map_; }

 private:
  Disk() = default;
  PosixFileSystem files_;
  std::unique_ptr<Volume> volume_;
  std::unique_ptr<SpaceMap> map_;
  std::unique_ptr<DataFile> data_file_;
};

/// Runs a cleaner, which writes a pool's dirty pages to a disk. There is no log to wait for.
class Cleaning {
 public:
  Cleaning(Disk& disk, BufferPool& pool);
  Cleaning(const Cleaning&) = delete;
  Cleaning& operator=(const Cleaning&) = delete;
  ~Cleaning();
  Result<> clean_all() { return cleaner_.clean_all(); }

 private:
  class NoLog final : public LogGate {
   public:
    void flush_to(Lsn /*lsn*/) override {}
  };
  NoLog log_;
  BufferPool& pool_;
  Cleaner cleaner_;
};

/// A tree on a disk, loaded in key order and clean, over which pools of any size and mode can be
/// opened.
struct DiskTree {
  std::unique_ptr<Disk> disk;
  PageId root = PageId::none;
  std::uint64_t records = 0;
  std::uint64_t pages = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return pages * kPageBytes; }
  /// Returns how many records, from the first on, have as many pages as the pool has frames.
  [[nodiscard]] std::uint64_t records_in(std::uint64_t pool_bytes) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(records) *
                                      (static_cast<double>(pool_bytes) / Frame::kStride) /
                                      static_cast<double>(pages));
  }
};
/// Loads about `bytes` of records of `shape`; needs as much memory meanwhile.
Result<DiskTree> make_disk_tree(const std::filesystem::path& directory, RecordShape shape,
                                std::uint64_t bytes, KeyOrder order);

}  // namespace swizzle::bench
