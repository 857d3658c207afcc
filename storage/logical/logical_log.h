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

/// Logical decoding: beside redo and undo, the log can carry a transaction's changes in terms of
/// the layer above, which alone knows tables. The holder of a slot reads these changes by
/// transaction, in commit order. Without such changes the log is the same as without this class.
/// Thread-safe.
class LogicalLog {
 public:
  explicit LogicalLog(EngineParts& engine, std::unique_ptr<LogSlots> slots);
  LogicalLog(const LogicalLog&) = delete;
  LogicalLog& operator=(const LogicalLog&) = delete;

  /// Notes a change that the transaction has made; `parts` are concatenated. Called after the
  /// change itself, so that a rollback to an earlier savepoint takes the note back as well. 53100
  /// if the log's disk is full.
  static Result<> note(Transaction& transaction, std::span<const Bytes> parts);

  [[nodiscard]] LogSlots& slots() noexcept { return *slots_; }
  /// End of the durable part of the log, and the log's end.
  [[nodiscard]] Lsn durable() const noexcept;
  [[nodiscard]] Lsn tail() const noexcept;
  /// Makes the log durable up to its present end.
  void flush() noexcept;
  /// Writes a flush mark at `end`, if the log ends there without one, so that followers redo the
  /// record before it.
  void end_with_mark(Lsn end);

  /// First half of creating a slot: keeps the log from now on and returns when every transaction
  /// that may have written before has ended. The kept log has all later commits whole. `waits` is
  /// called repeatedly and may throw.
  Result<> begin_slot(Slot slot, std::size_t most, const std::function<void()>& waits);

  /// Creates a slot for a standby. If `slot.restart` is not none, the log is kept from its current
  /// beginning on, which the slot gets as its position; otherwise from the reader's first position
  /// on. Returns the position. On a standby the caller is inside the replay gate.
  Result<Lsn> make_physical_slot(Slot slot, std::size_t most);
  /// Notes that the slot's reader has the log before `has`, durably. Keeps a little more: after a
  /// crash a reader resumes at the end of its last whole record.
  Result<> move_physical_slot(std::string_view name, Lsn has, LogSlots::Save when);

  /// Returns the snapshot of a transaction at REPEATABLE READ, or of the running statement; takes
  /// it now if it is not taken. It shows exactly the changes that committed before view.lsn.
  static ReadView view_of(Transaction& transaction);
  /// Makes the transaction, which is at REPEATABLE READ and has not read yet, use `view`. Pre:
  /// another owner holds that view until this returns.
  static void adopt_view(Transaction& transaction, const ReadView& view);

  /// Reads committed transactions from `from` on, a record boundary such as Slot::restart.
  std::unique_ptr<ChangeReader> read(Lsn from, ChangeReader::Options options);

  /// Copies the database for a standby into `files`, with the log from the copy's beginning on.
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
  /// Identifier of the log. A restore gives it a new one, which distinguishes the histories.
  [[nodiscard]] std::uint64_t log_id() const noexcept;
  /// Returns the history that led to `timeline`; 58P01 if it is unknown.
  [[nodiscard]] Result<wal::TimelineHistory> history(std::uint32_t timeline) const;

  /// Calls `wake` whenever more of the log becomes durable.
  [[nodiscard]] std::unique_ptr<wal::LogFollower> follower(std::function<void()> wake) const;

  /// Limits the log that slots keep (LogSlots::kept_from); 0: no limit.
  void keep_at_most(std::uint64_t bytes) noexcept;
  /// Keeps so much of the log behind its end for readers without a slot.
  void keep_at_least(std::uint64_t bytes) noexcept;
  /// Position from which the log is kept for others; called by checkpoints.
  [[nodiscard]] Lsn kept_from();

 private:
  EngineParts& engine_;
  std::unique_ptr<LogSlots> slots_;
  std::atomic<std::uint64_t> most_bytes_{0};
  std::atomic<std::uint64_t> least_bytes_{0};
};

}  // namespace swizzle
