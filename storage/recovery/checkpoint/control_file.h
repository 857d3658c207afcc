#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/btree/changed_trees.h"

namespace swizzle {

/// A page whose copy on disk may lack records from `since` on, up to `newest`.
struct DirtyPage {
  PageId page;
  Lsn since;
  /// None if it is not known (format version 1).
  Lsn newest = Lsn::none;
};

/// A transaction that had not ended, with its first and its newest record.
struct ActiveTransaction {
  TxnId id;
  Lsn first;
  Lsn last;
  /// Not known before format version 3.
  OpenChanges changes = {};
};

/// The start of recovery. Its initial value is that of an empty database.
struct Checkpoint {
  /// The checkpoint's own record: analysis reads from here.
  Lsn begin = Lsn::none;
  /// Redo reads from here: the oldest record that a page on disk may lack.
  Lsn redo_from = Lsn::none;
  /// The oldest record that redo or undo may want.
  Lsn keep_from = Lsn::none;
  TxnId next_txn{1};
  std::int64_t taken_at_us = 0;
  std::vector<DirtyPage> dirty;
  std::vector<ActiveTransaction> active;
};

struct Control {
  std::uint64_t database_id = 0;
  /// Identifier of the log: a restore to a point in time goes on with a new one.
  std::uint64_t log_id = 0;
  std::uint64_t log_segment_bytes = 0;
  /// Of the log: each promotion of a standby begins a new one.
  std::uint32_t timeline = 1;
  /// The root of the tree of trees.
  PageId directory_root = PageId::none;
  enum class Logging : std::uint8_t { on, off } logging = Logging::on;
  /// `clean`: the last event was a checkpoint with nothing dirty or active. `backup`: the directory
  /// is a backup that was never opened, so it must have its end (rule R8).
  enum class Shutdown : std::uint8_t { none, clean, backup } shutdown = Shutdown::none;
  Checkpoint checkpoint;
};

/// The control file: two checksummed copies, written in turn. A checkpoint is complete when its
/// copy is written; if that is torn or lost, the previous one counts (rule R1).
class ControlFile {
 public:
  static constexpr std::uint32_t kFormatVersion = 3;
  static constexpr std::array<const char*, 2> kFileNames = {"control-0", "control-1"};

  /// Writes both copies; durable on return.
  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         const Control& control);
  /// Reads the younger whole copy. 55000 for another version; XX001 that names both files when
  /// neither is whole.
  static Result<std::unique_ptr<ControlFile>> open(FileSystem& files,
                                                   const std::filesystem::path& directory);

  [[nodiscard]] const Control& current() const noexcept { return control_; }
  /// Returns the other copy, until the first write(). It has the previous checkpoint, from which a
  /// recovery can begin as well (rule R1). Null when the copy is lost.
  [[nodiscard]] const Control* older() const noexcept { return older_ ? &*older_ : nullptr; }
  /// Makes the other copy the current one; the next write() replaces the younger copy. Pre: older()
  /// is not null.
  void fall_back() noexcept;
  /// Returns true if the other copy was lost or damaged, so that the checkpoint is perhaps not the
  /// last one.
  [[nodiscard]] bool is_one_copy_lost() const noexcept { return one_copy_lost_; }

  /// Durable on return. After an error the older state counts. Only one caller at a time.
  Result<> write(const Control& control);

 private:
  ControlFile(FileSystem& files, std::filesystem::path directory)
      : files_(files), directory_(std::move(directory)) {}

  FileSystem& files_;
  const std::filesystem::path directory_;
  Control control_;
  std::optional<Control> older_;
  std::uint64_t generation_ = 0;
  bool one_copy_lost_ = false;
};

}  // namespace swizzle
