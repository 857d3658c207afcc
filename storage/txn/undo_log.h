#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"

namespace swizzle {

class UndoLog;

/// What one change replaced. It serves rollback, and, found through the version index, readers
/// whose snapshot is older than the change. The key and the old value follow the struct in memory.
struct UndoRecord {
  enum class Kind : std::uint8_t {
    inserted,
    updated,
    removed,
    load_begun,  ///< of a whole tree: no key, and no version for readers
  };

  // Links of the version index, under its bucket's latch.
  UndoRecord* older = nullptr;     ///< the change before this one to the same key
  UndoRecord* newer = nullptr;     ///< the one after it
  UndoRecord* next_key = nullptr;  ///< of the newest record of a key: another key of the bucket

  UndoRecord* previous = nullptr;  ///< the same transaction's change before this one
  UndoLog* log = nullptr;
  /// The transaction's log record before this change's: where undo goes on.
  Lsn previous_lsn = Lsn::none;
  std::uint64_t key_hash = 0;
  TreeId tree{};
  std::uint32_t statement = 0;
  std::uint32_t old_size = 0;
  std::uint16_t key_size = 0;
  Kind kind = Kind::inserted;
  bool old_overflow = false;

  /// Whether the version index has it.
  [[nodiscard]] bool is_version() const noexcept { return kind != Kind::load_begun; }
  [[nodiscard]] Bytes key() const noexcept {
    return {reinterpret_cast<const std::byte*>(this + 1), key_size};
  }
  [[nodiscard]] Bytes old_value() const noexcept {
    return {reinterpret_cast<const std::byte*>(this + 1) + key_size, old_size};
  }
};

/// The undo records of one transaction. Reused from one to the next.
class UndoLog {
 public:
  /// Becomes the commit record's LSN. Until then nobody else may see the changes.
  static constexpr std::uint64_t kActive = 0;
  /// The commit record is being appended: whoever asks waits the few instructions.
  static constexpr std::uint64_t kCommitting = 1;

  std::atomic<std::uint64_t> outcome{kActive};

  struct Change {
    UndoRecord::Kind kind;
    TreeId tree;
    std::uint64_t key_hash;
    Bytes key;
    Bytes old_value;
    bool old_overflow;
    std::uint32_t statement;
    Lsn previous_lsn;
  };
  UndoRecord& add(const Change& change);

  [[nodiscard]] UndoRecord* newest() const noexcept { return newest_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Forgets the newest record; its memory stays until clear().
  void drop_newest() noexcept;
  void clear() noexcept;

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  std::byte* take(std::size_t bytes);

  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;  ///< those behind are kept for reuse
  std::size_t used_in_last_ = 0;
  UndoRecord* newest_ = nullptr;
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace swizzle
