#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/memory/scratch_memory.h"
#include "base/result.h"
#include "storage/txn/undo/undo_log.h"

namespace swizzle {

/// For each key of a transaction that is read from its newest change to its oldest: the change that
/// comes next after the position of the reader. A hash table of addresses of undo records, with
/// open addressing. A large one lies in a scratch file, so that a transaction of many rows does not
/// have to fit into memory.
class LaterChanges {
 public:
  /// `directory` must outlive the object.
  LaterChanges(FileSystem& files, const std::filesystem::path& directory) noexcept
      : files_(files), directory_(directory) {}

  /// Returns the next change of the key; null if there is none whose old value is known.
  [[nodiscard]] const UndoRecord* find(TreeId tree, Bytes key) const noexcept;
  /// Notes a change that comes before all noted ones of its key. An insert is noted only where the
  /// key has an entry: no change before it needs a value from it. 53100 when the disk is full.
  Result<> put(const UndoRecord& record);
  /// The same for a change whose old value is not known: find() returns null for its key.
  Result<> put_unknown(const UndoRecord& record);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  struct Entry {
    std::uint64_t hash;        ///< of the key; its upper bit: the old value is not known
    const UndoRecord* record;  ///< null: the entry is free
  };
  static constexpr std::uint64_t kUnknown = std::uint64_t{1} << 63U;
  /// Tables of fewer entries are in memory.
  static constexpr std::size_t kFewEntries = std::size_t{1} << 14U;
  static constexpr std::size_t kFirstEntries = 16;

  [[nodiscard]] std::size_t place_of(std::uint64_t hash, TreeId tree, Bytes key) const noexcept;
  Result<> put(const UndoRecord& record, std::uint64_t unknown);
  Result<> grow();

  FileSystem& files_;
  const std::filesystem::path& directory_;
  std::vector<Entry> few_;
  std::unique_ptr<ScratchMemory> many_;
  std::span<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace swizzle
