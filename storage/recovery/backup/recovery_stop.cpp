#include "storage/recovery/backup/recovery_stop.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/records/restore_point_record.h"

namespace swizzle {
namespace {

using Bound = RecoveryTarget::Bound;

/// A record that changes which transactions a snapshot sees, or names a place.
struct Event {
  enum class Kind : std::uint8_t { other, commit, rollback, preparation, restore_point };
  Kind kind = Kind::other;
  std::optional<std::int64_t> time_us = std::nullopt;
  std::string name = {};  ///< of a restore point
};

Result<Event> event_of(const wal::Record& record) {
  // A restart logs the end of a loser without a time.
  const auto time = [&record]() -> std::optional<std::int64_t> {
    if (record.payload.size() < sizeof(std::int64_t)) return std::nullopt;
    return load<std::int64_t>(record.payload.data());
  };
  switch (kind_of(record.header)) {
    case RecordKind::transaction_committed:
      return Event{Event::Kind::commit, time()};
    case RecordKind::transaction_ended:
      return Event{Event::Kind::rollback, time()};
    case RecordKind::transaction_prepared:
      return Event{Event::Kind::preparation, time()};
    case RecordKind::restore_point: {
      ASSIGN_OR_RETURN(RestorePointRecord point, payload::decode_restore_point(record.payload));
      return Event{Event::Kind::restore_point, point.time_us, std::move(point.name)};
    }
    default:
      return Event{};
  }
}

/// Searches the log for the record at the target.
class StopSearch {
 public:
  StopSearch(Lsn earliest, const RecoveryTarget& target) : earliest_(earliest), target_(target) {}

  /// Returns true if the history ends before `record`.
  [[nodiscard]] bool stops_before(const wal::Record& record, const Event& event) const {
    if (target_.time_us && event.time_us) {
      return target_.bound == Bound::inclusive ? *event.time_us > *target_.time_us
                                               : *event.time_us >= *target_.time_us;
    }
    return target_.bound == Bound::exclusive && is_target(record, event);
  }
  /// Returns true if the history ends with `record`.
  [[nodiscard]] bool stops_after(const wal::Record& record, const Event& event) const {
    return target_.bound == Bound::inclusive && is_target(record, event);
  }
  void note(const wal::Record& record, Event event) {
    if (event.kind != Event::Kind::other) last_event_end_ = record.end;
    if (event.kind == Event::Kind::commit) {
      found_.last_commit_us = event.time_us;
      found_.last_commit = record.header.txn;
    }
    if (event.kind != Event::Kind::restore_point) return;
    if (target_.restore_point == event.name && record.end < earliest_) passed_ = record.lsn;
    found_.restore_point = std::move(event.name);
  }

  /// Ends the history before `record`. For a time right after the event before it: changes between
  /// the two are of transactions that had not ended, and may be those of a rollback that had not
  /// begun.
  Result<std::optional<RecoveryStop>> stop_before(const wal::Record& record) {
    const bool is_between = target_.time_us && record.lsn >= earliest_;
    return stop_at(is_between ? std::max(last_event_end_, earliest_) : record.lsn);
  }
  Result<std::optional<RecoveryStop>> stop_at(Lsn end) {
    found_.end = end;
    if (end >= earliest_) return std::move(found_);
    return too_early(end);
  }
  Result<std::optional<RecoveryStop>> stop_at_end(Lsn end) {
    if (is_reached_at_end(end)) return stop_at(end);
    if (passed_ != Lsn::none) return too_early(passed_);
    return std::nullopt;
  }

 private:
  /// Returns true if the target is reached although no record is there: everything before an LSN
  /// is all that is wanted.
  [[nodiscard]] bool is_reached_at_end(Lsn end) const noexcept {
    if (target_.lsn) return target_.bound == Bound::exclusive && end >= *target_.lsn;
    return !has_target(target_);
  }
  [[nodiscard]] bool is_target(const wal::Record& record, const Event& event) const {
    if (target_.lsn) return record.lsn >= *target_.lsn;
    if (target_.restore_point) {
      return event.kind == Event::Kind::restore_point && event.name == *target_.restore_point &&
             record.end >= earliest_;
    }
    return target_.transaction == record.header.txn &&
           (event.kind == Event::Kind::commit || event.kind == Event::Kind::rollback);
  }
  [[nodiscard]] Result<std::optional<RecoveryStop>> too_early(Lsn at) const {
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("the recovery target at LSN {}, {}, is before the end of the backup at "
                            "LSN {}",
                            raw(at), describe_target(target_), raw(earliest_)));
  }

  const Lsn earliest_;
  const RecoveryTarget& target_;
  RecoveryStop found_;
  Lsn last_event_end_ = Lsn::none;
  /// The newest restore point of the wanted name that lies before the backup's end.
  Lsn passed_ = Lsn::none;
};

}  // namespace

bool has_target(const RecoveryTarget& target) noexcept {
  return target.lsn || target.time_us || target.restore_point || target.transaction;
}

std::string describe_target(const RecoveryTarget& target) {
  if (target.lsn) return fmt::format("LSN {}", raw(*target.lsn));
  if (target.restore_point) return fmt::format("restore point \"{}\"", *target.restore_point);
  if (target.transaction) return fmt::format("transaction {}", raw(*target.transaction));
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t micros = ((*target.time_us % kMicros) + kMicros) % kMicros;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} UTC",
                     fmt::gmtime(static_cast<std::time_t>((*target.time_us - micros) / kMicros)),
                     micros);
}

Result<std::optional<RecoveryStop>> find_stop(wal::Reader reader, Lsn from, Lsn earliest,
                                              const RecoveryTarget& target) {
  StopSearch search(earliest, target);
  reader.seek(from);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record) return search.stop_at_end(reader.end());
    ASSIGN_OR_RETURN(Event event, event_of(*record));
    if (search.stops_before(*record, event)) return search.stop_before(*record);
    const bool is_last = search.stops_after(*record, event);
    search.note(*record, std::move(event));
    if (is_last) return search.stop_at(record->end);
  }
}

}  // namespace swizzle
