#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/logical/change_buffer.h"
#include "wal/log.h"

namespace swizzle {

/// A transaction that has committed, with its notes (LogicalLog::note).
struct CommittedChanges {
  TxnId id = TxnId::none;
  Lsn commit = Lsn::none;  ///< its commit record
  Lsn end = Lsn::none;     ///< one after that
  std::int64_t committed_at_us = 0;
  ChangeBuffer changes;
};

/// Groups the changes in the log by transactions, and returns those that commit, in the order of
/// their commits. Omits changes that were rolled back, as a whole or to a savepoint. Used by one
/// thread or fiber at a time; parks while it reads.
class ChangeReader {
 public:
  struct Options {
    /// Memory for all unfinished transactions, and the files for the rest.
    std::uint64_t memory_bytes = std::uint64_t{64} << 20U;
    SpillFiles* files = nullptr;
    /// Transactions that committed before are omitted.
    Lsn committed_from = Lsn::none;
    /// Records that begin here or later are not read.
    Lsn read_until = Lsn::max;
  };
  ChangeReader(const wal::Log& log, Lsn from, Options options);
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  /// Returns the next transaction that has noted changes; nullopt if the durable log has none, or
  /// after some MB of log, so that the caller can do other work: see is_at_end().
  Result<std::optional<CommittedChanges>> next();
  /// True if everything that was durable at the last call of next() has been read.
  [[nodiscard]] bool is_at_end() const noexcept {
    return reader_.position() >= std::min(reader_.end(), options_.read_until);
  }
  /// Returns the durable end of the log at that call.
  [[nodiscard]] Lsn end() const noexcept { return reader_.end(); }
  /// Returns the position up to which the log has been read.
  [[nodiscard]] Lsn position() const noexcept { return reader_.position(); }
  /// Returns the position from which a reader must start to get everything that commits from
  /// position() on.
  [[nodiscard]] Lsn needed_from() const noexcept;

  /// Numbers of transactions, and bytes, that went to files.
  [[nodiscard]] std::uint64_t spilled_transactions() const noexcept { return spilled_; }
  [[nodiscard]] std::uint64_t spilled_bytes() const noexcept { return spilled_bytes_; }

 private:
  struct Open {
    explicit Open(Lsn at, ChangeMemory& memory) : first(at), changes(memory) {}
    Lsn first;
    ChangeBuffer changes;
    /// Parts received so far of a change in several parts.
    std::vector<std::byte> unfinished;
  };
  Result<> note(const wal::Record& record);
  Result<> spill_largest();
  std::optional<CommittedChanges> commit(const wal::Record& record);

  const wal::Log& log_;
  const Options options_;
  wal::Reader reader_;
  ChangeMemory memory_;
  std::map<TxnId, Open> open_;
  std::uint64_t spilled_ = 0;
  std::uint64_t spilled_bytes_ = 0;
};

}  // namespace swizzle
