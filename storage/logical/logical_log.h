#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/logical/change_reader.h"
#include "storage/logical/slots.h"
#include "wal/log_follower.h"

namespace swizzle {

class Transaction;
struct EngineParts;
struct ReadView;

/// Beside what redo and undo need, the log can tell what a transaction has changed in words of the
/// layer above, which alone knows what a table is. Whoever holds a slot reads these changes,
/// transaction by transaction, in the order in which they commit. Where nobody notes any, the log
/// has none and nothing is different. Thread-safe.
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
  /// What can be read, and the log's end.
  [[nodiscard]] Lsn durable() const noexcept;
  [[nodiscard]] Lsn tail() const noexcept;
  /// Makes durable what has been logged up to now.
  void flush() noexcept;

  /// The first half of making a slot: the log is kept from now on, and returns when every
  /// transaction has ended that may have written something before; `waits` is asked now and then
  /// and may throw. What commits from now on is whole in the log that is kept.
  Result<> begin_slot(Slot slot, std::size_t most, const std::function<void()>& waits);

  /// What a transaction at REPEATABLE READ sees, or the statement that runs: settled now if it was
  /// not. What committed before view.lsn it sees, and nothing else.
  static ReadView view_of(Transaction& transaction);
  /// The transaction, which is at REPEATABLE READ and has not read yet, sees what `view` shows.
  /// Pre: somebody holds that view until this returns.
  static void adopt_view(Transaction& transaction, const ReadView& view);

  /// Reads committed transactions from `from` on, a record boundary such as Slot::restart.
  std::unique_ptr<ChangeReader> read(Lsn from, ChangeReader::Options options);

  /// For who reads on as more becomes durable.
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
