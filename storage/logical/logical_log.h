#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/backup.h"
#include "storage/logical/change_reader.h"
#include "storage/logical/slots.h"
#include "storage/options.h"
#include "wal/byte_reader.h"
#include "wal/log_follower.h"
#include "wal/timeline.h"

namespace swizzle {

class Transaction;
struct EngineParts;
struct ReadView;

/// Beside redo and undo, the log can carry the changes of a transaction in terms of the layer
/// above, which alone knows tables. The holder of a slot reads these changes, transaction by
/// transaction, in the order in which they commit. Without noted changes the log is the same as
/// without this class. Thread-safe.
class LogicalLog {
 public:
  explicit LogicalLog(EngineParts& engine, std::unique_ptr<LogSlots> slots);
  LogicalLog(const LogicalLog&) = delete;
  LogicalLog& operator=(const LogicalLog&) = delete;

  /// Notes a change that the transaction has made: `parts`, joined. To be called after the change
  /// itself, so that a rollback to a mark before it takes the note back as well. 53100 when the
  /// log's disk is full.
  static Result<> note(Transaction& transaction, std::span<const Bytes> parts);

  [[nodiscard]] LogSlots& slots() noexcept { return *slots_; }
  /// Readable part of the log, and the log's end.
  [[nodiscard]] Lsn durable() const noexcept;
  [[nodiscard]] Lsn tail() const noexcept;
  /// Makes the log durable up to its present end.
  void flush() noexcept;

  /// Does the first half of making a slot. The log is kept from now on. Returns when every
  /// transaction has ended that may have written something before; `waits` is called now and then
  /// and may throw. Transactions that commit from now on are whole in the log that is kept.
  Result<> begin_slot(Slot slot, std::size_t most, const std::function<void()>& waits);

  /// Makes a slot for a server that follows the log as it is: kept from now on if `slot.restart` is
  /// not none, where it is set to the log's present beginning, else from its reader's first
  /// position on. Returns the position.
  Result<Lsn> make_physical_slot(Slot slot, std::size_t most);
  /// Its reader has the log before `has`, durably. Keeps a little more: after a crash a reader
  /// begins again where its last whole record ends.
  Result<> move_physical_slot(std::string_view name, Lsn has, LogSlots::Save when);

  /// Returns the view of a transaction at REPEATABLE READ, or of the running statement; takes it
  /// now if it was not taken. It shows exactly the changes that committed before view.lsn.
  static ReadView view_of(Transaction& transaction);
  /// Makes the transaction, which is at REPEATABLE READ and has not read yet, use `view`. Pre:
  /// another owner holds that view until this returns.
  static void adopt_view(Transaction& transaction, const ReadView& view);

  /// Reads committed transactions from `from` on, a record boundary such as Slot::restart.
  std::unique_ptr<ChangeReader> read(Lsn from, ChangeReader::Options options);

  /// For a server that follows: a copy of the database, written into `files`, and the log
  /// from there on, as it is.
  Result<BackupOutcome> copy_database(FileSystem& files, const std::filesystem::path& target,
                                      const RecoveryObserver& observer);
  [[nodiscard]] std::unique_ptr<wal::ByteReader> bytes() const;
  [[nodiscard]] std::uint32_t timeline() const noexcept;
  struct LastCheckpoint {
    Lsn begin = Lsn::none;
    Lsn redo_from = Lsn::none;
    TxnId next_txn{1};
    std::int64_t taken_at_us = 0;
  };
  [[nodiscard]] LastCheckpoint last_checkpoint() const noexcept;
  [[nodiscard]] std::uint64_t segment_bytes() const;
  /// Identifier of the log: another one after a restore, so that it tells histories apart.
  [[nodiscard]] std::uint64_t log_id() const noexcept;
  /// How the log came to `timeline`; 58P01 where it is not known.
  [[nodiscard]] Result<wal::TimelineHistory> history(std::uint32_t timeline) const;

  /// Wakes a reader as more becomes durable.
  [[nodiscard]] std::unique_ptr<wal::LogFollower> follower(std::function<void()> wake) const;

  /// Beyond it a slot does not keep log (LogSlots::kept_from); 0: no bound.
  void keep_at_most(std::uint64_t bytes) noexcept;
  /// For checkpoints.
  [[nodiscard]] Lsn kept_from();

 private:
  EngineParts& engine_;
  std::unique_ptr<LogSlots> slots_;
  std::atomic<std::uint64_t> most_bytes_{0};
};

}  // namespace swizzle
