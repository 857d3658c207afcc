#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/memory/scratch_memory.h"
#include "base/memory/swapped_out.h"
#include "base/result.h"
#include "lock/lock_types.h"
#include "lock/serializable/serial_id.h"
#include "storage/btree/records.h"
#include "wal/log.h"

namespace swizzle {

/// How the transaction ended whose records point here.
struct UndoOutcome {
  /// Outcome before the end. Becomes the commit record's LSN; until then the changes are not
  /// visible to others.
  static constexpr std::uint64_t kActive = 0;
  /// The commit record is being appended: a thread that reads the outcome waits the few
  /// instructions.
  static constexpr std::uint64_t kCommitting = 1;

  std::atomic<std::uint64_t> outcome{kActive};
  /// The transaction's number among the serializable ones that read snapshots; none at other
  /// levels.
  std::atomic<lock::SerialId> serial{lock::SerialId::none};
  /// Lock on which transactions wait that meet one of the records, until there is an outcome. If
  /// none, each of the keys is locked.
  std::atomic<lock::TransactionLock> covers{lock::TransactionLock::none};
};

/// State that one change replaced. Rollback uses it; so do readers whose snapshot is older than the
/// change, which find it through the version index. The key and the old value follow the struct in
/// memory.
struct UndoRecord {
  enum class Kind : std::uint8_t {
    inserted,
    updated,
    removed,
    moved,        ///< removed; the record continues under the key that `previous` inserted
    removed_run,  ///< several were removed; see RemovedRun for what follows
    load_begun,   ///< load of a whole tree: has no key, and is no version for readers
  };

  // Links of the version index, under its bucket's latch.
  UndoRecord* older = nullptr;     ///< the change of the same key before this one
  UndoRecord* newer = nullptr;     ///< the change of the same key after this one
  UndoRecord* next_key = nullptr;  ///< the newest record of another key of the bucket; only in the
                                   ///< newest record of a key

  UndoRecord* previous = nullptr;  ///< the change of the same transaction before this one
  UndoOutcome* log = nullptr;      ///< the transaction's UndoLog, or a copy of its outcome
  /// The transaction's log record before the one of this change: undo continues there.
  Lsn previous_lsn = Lsn::none;
  std::uint64_t key_hash = 0;
  TreeId tree{};
  std::uint32_t statement = 0;
  std::uint16_t old_size = 0;
  std::uint16_t new_size = 0;  ///< of the value that replaced the old one
  std::uint16_t key_size = 0;
  Kind kind = Kind::inserted;
  bool old_overflow : 1 = false;
  bool takes_key : 1 = false;  ///< for an update: its lock was on the key, too
  bool over_run : 1 = false;   ///< an older run has the key, too

  /// Returns the insert to which a moved record went.
  [[nodiscard]] const UndoRecord* went_to() const noexcept {
    return kind == Kind::moved ? previous : nullptr;
  }
  /// Returns the access to its key that the change denies others until it is undone or has
  /// committed.
  [[nodiscard]] lock::Access access() const noexcept {
    return kind == Kind::updated && !takes_key ? lock::Access::content_exclusive
                                               : lock::Access::exclusive;
  }
  /// Returns true if the record is in the version index.
  [[nodiscard]] bool is_version() const noexcept { return kind != Kind::load_begun; }
  [[nodiscard]] Bytes key() const noexcept {
    return {reinterpret_cast<const std::byte*>(this + 1), key_size};
  }
  [[nodiscard]] Bytes old_value() const noexcept {
    return {reinterpret_cast<const std::byte*>(this + 1) + key_size, old_size};
  }
  /// Returns the first address of the record that is in a swapped-out file
  /// (base/memory/swapped_out.h), or null. Does not touch the record there.
  [[nodiscard]] const void* first_swapped_out() const noexcept {
    if (swapped_out::has(this)) return this;
    const auto* const after = reinterpret_cast<const std::byte*>(this + 1);
    if (swapped_out::has(after - 1)) return after - 1;
    const std::byte* const last = after + key_size + old_size - 1;
    return swapped_out::has(last) ? last : nullptr;
  }
};

/// Memory for one transaction's undo records, the memory that all transactions share, and where the
/// rest goes.
struct UndoSpace {
  FileSystem& files;
  wal::Log& log;
  const std::filesystem::path directory;
  const std::size_t memory_bytes;
  const std::size_t shared_bytes;
  /// Part of the shared memory that is in use.
  std::atomic<std::size_t> lent_bytes{0};
  /// Bytes of scratch files that have been used for undo records since the start.
  std::atomic<std::uint64_t> spilled_bytes{0};
};

/// The undo records of one transaction. The object is reused from one transaction to the next.
///
/// Records that do not fit the memory that a transaction may use go to scratch files, which are
/// mapped. Readers follow versions under a latch, so records keep their addresses, and a touch
/// reads them. Only the newest stretches stay in memory; a rollback walks back through the others.
class UndoLog : public UndoOutcome {
 public:
  explicit UndoLog(UndoSpace& space) noexcept : space_(space), limit_(space.memory_bytes) {}
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;
  ~UndoLog() { give_back(); }

  /// The log has room for so much of every transaction without a report. Reports are made to the
  /// log, which all transactions share, so few transactions should need one.
  static constexpr std::uint64_t kOwedUnsaid = std::uint64_t{16} << 10U;

  struct Change {
    UndoRecord::Kind kind;
    TreeId tree;
    std::uint64_t key_hash;
    Bytes key;
    Bytes old_value;
    bool old_overflow;
    std::uint32_t statement;
    Lsn previous_lsn;
    bool takes_key = false;
    std::size_t new_bytes = 0;  ///< most bytes of the new value
  };
  /// Call before a change that will add a record with at most `bytes` of key and old value. Makes
  /// room in a scratch file if memory is used up. Parks; no latch held. 53100 when the disk is
  /// full.
  Result<> prepare(std::size_t bytes) { return prepare(bytes, 1); }
  /// The same before changes that will add `records` records.
  Result<> prepare(std::size_t bytes, std::size_t records) {
    const std::size_t least = bytes + records * record_bytes(alignof(UndoRecord) - 1);
    const std::uint64_t logged = bytes + records * kLoggedBytes;
    if (bytes_ + least <= limit_ && to_undo_ + logged <= owed_ + kOwedUnsaid) [[likely]]
      return {};
    return prepare_more(least, logged);
  }
  /// Adds a record. Pre: prepare() was called since the last add(), or for all records since then.
  UndoRecord& add(const Change& change);
  /// Adds a run of removals, followed by room for the caller's data. Pre: neither key nor old
  /// value.
  UndoRecord& add_run(const Change& change, std::size_t bytes, std::size_t removals);

  /// Pages in the stretch that has `record`, by a helper thread, if it is in a file, so that no
  /// touch of the record has to wait. Call before the record is read; its newer neighbour has been
  /// read already. May park. Does nothing for null.
  void page_in(const UndoRecord* record) {
    if (record == nullptr || !has_scratch_ || lies_in(at_hand_, record)) return;
    page_in_slowly(record);
  }

  [[nodiscard]] UndoRecord* newest() const noexcept { return newest_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Returns true if the records may be moved (SpilledVersions): none is in a file already, and
  /// only the version index points to them, which is not so for moves and runs.
  [[nodiscard]] bool is_movable() const noexcept { return !has_scratch_ && !has_fixed_; }
  /// Returns the part of bytes() that lies in scratch files.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  /// Forgets the newest record, to which nothing points any more, and frees its memory.
  void drop_newest() noexcept;
  /// Has the bytes that rollbacks have reserved in the log noted there, until release_space().
  void report_to(std::atomic<std::uint64_t>* owed) noexcept { reported_ = owed; }
  /// Call when no rollback will follow any more: the log need not keep room for one.
  void release_space() noexcept;
  void clear() noexcept;

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;  ///< or null
    std::unique_ptr<ScratchMemory> scratch;
    std::byte* begin;
    std::size_t size;
  };
  static std::size_t record_bytes(std::size_t bytes) noexcept {
    return (sizeof(UndoRecord) + bytes + alignof(UndoRecord) - 1) & ~(alignof(UndoRecord) - 1);
  }
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return chunks_used_ != 0 && chunks_[chunks_used_ - 1].size - used_in_last_ >= bytes;
  }
  /// Most bytes that undoing a change adds to the log, besides its key and both values.
  static constexpr std::uint64_t kLoggedBytes = wal::kMaxRecordOverhead + payload::kMaxHeadBytes;
  static std::uint64_t logged_bytes(const UndoRecord& record) noexcept;

  std::byte* take(std::size_t bytes);
  UndoRecord& make(const Change& change, std::size_t bytes);
  Result<> prepare_more(std::size_t least, std::uint64_t logged);
  Result<> owe(std::uint64_t logged);
  void set_owed(std::uint64_t bytes) noexcept {
    owed_ = bytes;
    if (reported_ != nullptr) reported_->store(bytes, std::memory_order_relaxed);
  }
  Result<> prepare_spill(std::size_t least);
  bool borrow(std::size_t least) noexcept;
  void give_back() noexcept;
  void drop_last_chunk() noexcept;
  void leave_memory() noexcept;
  void page_in_slowly(const UndoRecord* record);

  /// Contiguous memory for records.
  struct Stretch {
    const std::byte* begin = nullptr;
    std::size_t size = 0;
  };
  static bool lies_in(const Stretch& stretch, const UndoRecord* record) noexcept {
    const auto* const at = reinterpret_cast<const std::byte*>(record);
    return at >= stretch.begin && at < stretch.begin + stretch.size;
  }

  UndoSpace& space_;
  std::size_t limit_;  ///< most bytes in memory
  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;  ///< chunks from here on are kept for reuse
  std::size_t used_in_last_ = 0;
  std::size_t next_freed_ = 0;  ///< where leave_memory() has stopped
  UndoRecord* newest_ = nullptr;
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  std::uint64_t to_undo_ = 0;  ///< most bytes that undoing all records would add to the log
  std::uint64_t owed_ = 0;     ///< part of to_undo_ that was reported to the log
  std::atomic<std::uint64_t>* reported_ = nullptr;  ///< copy of owed_, for others
  bool has_scratch_ = false;
  bool has_fixed_ = false;  ///< has a record of a move, or a run
  Stretch at_hand_;
};

}  // namespace swizzle
