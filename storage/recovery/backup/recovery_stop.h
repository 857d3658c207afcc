#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "storage/backup.h"
#include "storage/recovery/records/history_event.h"
#include "storage/recovery/records/segment_digest.h"
#include "wal/record.h"

namespace swizzle {

/// The end of a restored history, a record boundary, and what it has last.
struct RecoveryStop {
  Lsn end = Lsn::none;
  std::optional<std::int64_t> last_commit_us = std::nullopt;
  TxnId last_commit = TxnId::none;
  std::optional<std::string> restore_point = std::nullopt;
};

/// Searches for the target in a log whose records it is shown one after the other.
class StopSearch {
 public:
  /// Restore points before `earliest`, the backup's end, do not count.
  StopSearch(Lsn earliest, const RecoveryTarget& target) : earliest_(earliest), target_(target) {}

  enum class Belongs : std::uint8_t { yes, no };
  /// Returns `no` if the record does not belong to the restored history. Pre: !is_over().
  Belongs visit(const wal::Record& record);
  /// Returns true if a record of the digest's segment may end the history. Otherwise pass() is the
  /// same as visits to all of them.
  [[nodiscard]] bool may_stop_in(const SegmentDigest& digest) const;
  void pass(const SegmentDigest& digest);
  /// Returns true once the history's end is known, or cannot be found.
  [[nodiscard]] bool is_over() const noexcept { return outcome_.has_value(); }
  /// Returns the end. Nothing: the log, which ends at `end`, ends before it. 55000 if the target
  /// lies before `earliest`. Call once.
  Result<std::optional<RecoveryStop>> finish(Lsn end);

 private:
  using Outcome = Result<std::optional<RecoveryStop>>;
  using Event = HistoryEvent;
  [[nodiscard]] bool stops_before(const wal::Record& record, const Event& event) const;
  [[nodiscard]] bool stops_after(const wal::Record& record, const Event& event) const;
  void note(const wal::Record& record, Event event);
  Outcome stop_before(const wal::Record& record);
  Outcome stop_at(Lsn end);
  Outcome stop_at_end(Lsn end);
  [[nodiscard]] bool is_reached_at_end(Lsn end) const noexcept;
  [[nodiscard]] bool is_target(const wal::Record& record, const Event& event) const;
  [[nodiscard]] Outcome too_early(Lsn at) const;

  const Lsn earliest_;
  const RecoveryTarget& target_;
  std::optional<Outcome> outcome_;
  RecoveryStop found_;
  Lsn last_event_end_ = Lsn::none;
  /// The newest restore point of the wanted name that lies before the backup's end.
  Lsn passed_ = Lsn::none;
};

/// Returns the outcome of a restore that stopped there, and whose new log begins at `begins_again`.
RestoreOutcome restore_outcome(const RecoveryStop& stop, Lsn begins_again);
[[nodiscard]] bool has_target(const RecoveryTarget& target) noexcept;
/// Pre: has_target().
std::string describe_target(const RecoveryTarget& target);

}  // namespace swizzle
