#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/logical/change_buffer.h"
#include "wal/log.h"

namespace swizzle {

/// A transaction that has committed, with its notes (LogicalLog::note); or, for readers that want
/// that, another event of a transaction.
struct DecodedChanges {
  enum class Event : std::uint8_t {
    committed,
    prepared,
    committed_prepared,
    rolled_back_prepared,
    // Of a large transaction, before it ends.
    part,             ///< its next changes
    part_taken_back,  ///< the part with the number `part` and those after it have been rolled back,
                      ///< or come again
    rolled_back,      ///< after parts
  };
  TxnId id = TxnId::none;
  Lsn commit = Lsn::none;  ///< its commit record, or the record of the event
  Lsn end = Lsn::none;     ///< one after that
  std::int64_t committed_at_us = 0;
  ChangeBuffer changes;
  Event event = Event::committed;
  /// Number of the part, from 1. Of `committed` and `prepared`: of the rest, if there were parts
  /// before; otherwise 0.
  std::uint32_t part = 0;
  bool is_repeated = false;  ///< of `prepared`: before Options::committed_from
  // Of prepared transactions.
  std::string gid = {};
  Lsn prepared_end = Lsn::none;
  std::int64_t prepared_at_us = 0;
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
    /// Transactions that committed before are omitted. Those that were prepared before, and have
    /// not ended before, are returned once more.
    Lsn committed_from = Lsn::none;
    /// Records that begin here or later are not read.
    Lsn read_until = Lsn::max;
    /// Returns large transactions in parts, instead of keeping them until they commit.
    bool streams = false;
    /// Transactions that were prepared from here on are returned when they are prepared.
    Lsn prepared_from = Lsn::max;
  };
  ChangeReader(const wal::Log& log, Lsn from, Options options);
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  /// Returns the next event of a transaction that has noted changes; nullopt if the durable log has
  /// none, or after some MB of log, so that the caller can do other work: see is_at_end().
  Result<std::optional<DecodedChanges>> next();
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
    /// Numbers of the parts that were returned, in the file of `changes` one after the other.
    std::vector<std::uint32_t> parts = {};
    std::uint32_t next_part = 1;
    bool is_prepared = false;
    std::string gid = {};
    Lsn prepared_end = Lsn::none;
    std::int64_t prepared_at_us = 0;
    [[nodiscard]] bool has_parts() const noexcept { return next_part != 1; }
  };
  using Event = DecodedChanges::Event;
  Result<std::optional<DecodedChanges>> take(const wal::Record& record);
  Result<std::optional<DecodedChanges>> note(const wal::Record& record);
  Result<std::optional<DecodedChanges>> take_back(const wal::Record& record);
  Result<std::optional<DecodedChanges>> spill_largest(const wal::Record& record);
  Result<std::optional<DecodedChanges>> prepare(const wal::Record& record);
  std::optional<DecodedChanges> commit(const wal::Record& record);
  std::optional<DecodedChanges> roll_back(const wal::Record& record);
  /// Returns the event without changes.
  DecodedChanges event_of(Event event, const wal::Record& record);
  /// Returns the changes that were not returned in parts.
  static void add_rest(DecodedChanges& event, Open& open);

  const wal::Log& log_;
  const Options options_;
  wal::Reader reader_;
  ChangeMemory memory_;
  std::map<TxnId, Open> open_;
  std::uint64_t spilled_ = 0;
  std::uint64_t spilled_bytes_ = 0;
};

}  // namespace swizzle
