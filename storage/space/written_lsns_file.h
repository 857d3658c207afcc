#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/io/file.h"
#include "base/result.h"
#include "storage/space/written_lsns.h"

namespace swizzle {

/// Keeps the written LSNs on disk. A page is never older than its LSN here, since that is written
/// later. So the file may be older than the data, but not the other way round: a copy of the
/// database that is not of one moment must omit it. A block that is damaged, usually by a torn
/// write, is unknown. Blocks are read on demand.
class WrittenLsnsFile final : public WrittenLsns::Source {
 public:
  static constexpr const char* kFileName = "page_lsns";

  /// Becomes the source of `lsns`; makes the file if there is none. Reads nothing.
  static Result<std::unique_ptr<WrittenLsnsFile>> open(FileSystem& files,
                                                       const std::filesystem::path& directory,
                                                       std::uint64_t database_id,
                                                       WrittenLsns& lsns);
  ~WrittenLsnsFile() override { lsns_.set_source(nullptr); }

  /// Durable on return, except for blocks for which the disk has no room: the next call tries
  /// again.
  Result<> persist();

  bool read_block(std::uint64_t number, WrittenLsns::Block& into) noexcept override;
  bool write_block(std::uint64_t number, const WrittenLsns::Block& block) noexcept override;

 private:
  WrittenLsnsFile(std::unique_ptr<File> file, std::uint64_t database_id, std::uint64_t blocks,
                  WrittenLsns& lsns) noexcept
      : file_(std::move(file)), database_id_(database_id), blocks_(blocks), lsns_(lsns) {}

  std::unique_ptr<File> file_;
  std::uint64_t database_id_;
  std::atomic<std::uint64_t> blocks_;      ///< in the file
  std::atomic<bool> has_unsynced_{false};  ///< written since the last sync
  std::mutex failure_mutex_;
  Result<> failure_;  ///< the first failed write since the last persist()
  WrittenLsns& lsns_;
};

}  // namespace swizzle
