#pragma once

#include <memory>

#include "base/ids.h"
#include "base/memory/scratch_memory.h"
#include "storage/txn/undo/undo_log.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

/// Versions of committed transactions in one scratch file, moved there from the memory of undo
/// logs. The version index points to them as to any other version.
///
/// The file is mapped, and the system decides which of its pages stay in memory. They are not
/// swapped out by windows (base/memory/swapped_out.h): a writer touches the version before its own,
/// and reading a whole window for that costs far more than reading the page.
class SpilledVersions {
 public:
  explicit SpilledVersions(std::unique_ptr<ScratchMemory> memory) noexcept
      : memory_(std::move(memory)) {}

  /// Returns the most bytes that the log's versions take.
  [[nodiscard]] static std::size_t bytes_for(const UndoLog& undo) noexcept {
    return undo.bytes() + undo.count() * sizeof(UndoOutcome);
  }
  [[nodiscard]] std::size_t room() const noexcept { return bytes() - used_; }
  /// Moves the record, which is a version of a transaction that committed at `commit`, into the
  /// file. Pre: there is room, and the record's log is movable.
  void take(UndoRecord& record, Lsn commit, VersionIndex& versions) noexcept;
  /// Starts writing all of it to the file.
  void write_back() noexcept { memory_->write_back(); }

  /// Returns the newest version; each leads to the one before it by UndoRecord::previous.
  [[nodiscard]] UndoRecord* newest() const noexcept { return newest_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_->bytes().size(); }
  [[nodiscard]] Lsn last_commit() const noexcept { return last_commit_; }

 private:
  std::unique_ptr<ScratchMemory> memory_;
  std::size_t used_ = 0;
  UndoRecord* newest_ = nullptr;
  std::uint64_t count_ = 0;
  Lsn last_commit_ = Lsn::none;
};

}  // namespace swizzle
