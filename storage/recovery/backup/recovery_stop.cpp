#include "storage/recovery/backup/recovery_stop.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace swizzle {
namespace {

using Bound = RecoveryTarget::Bound;

}  // namespace

StopSearch::Belongs StopSearch::visit(const wal::Record& record) {
  auto event = event_of(record);
  if (!event) {
    outcome_ = fail(std::move(event).error());
    return Belongs::no;
  }
  if (stops_before(record, *event)) {
    outcome_ = stop_before(record);
    return Belongs::no;
  }
  const bool is_last = stops_after(record, *event);
  note(record, *std::move(event));
  if (is_last) outcome_ = stop_at(record.end);
  return Belongs::yes;
}

bool StopSearch::may_stop_in(const SegmentDigest& digest) const {
  if (target_.lsn) return digest.end > *target_.lsn;
  if (target_.time_us && digest.youngest_us) {
    return target_.bound == Bound::inclusive ? *digest.youngest_us > *target_.time_us
                                             : *digest.youngest_us >= *target_.time_us;
  }
  if (target_.restore_point) {
    const auto& names = digest.restore_points;
    return std::ranges::find(names, *target_.restore_point) != names.end();
  }
  return target_.transaction && std::ranges::binary_search(digest.ended, *target_.transaction);
}

void StopSearch::pass(const SegmentDigest& digest) {
  if (digest.last_event_end != Lsn::none) last_event_end_ = digest.last_event_end;
  if (digest.last_commit != TxnId::none) {
    found_.last_commit = digest.last_commit;
    found_.last_commit_us = digest.last_commit_us;
  }
  if (!digest.restore_points.empty()) found_.restore_point = digest.restore_points.back();
}

Result<std::optional<RecoveryStop>> StopSearch::finish(Lsn end) {
  return is_over() ? *std::move(outcome_) : stop_at_end(end);
}

/// Returns true if the history ends before `record`.
bool StopSearch::stops_before(const wal::Record& record, const Event& event) const {
  if (target_.time_us && event.time_us) {
    return target_.bound == Bound::inclusive ? *event.time_us > *target_.time_us
                                             : *event.time_us >= *target_.time_us;
  }
  return target_.bound == Bound::exclusive && is_target(record, event);
}

/// Returns true if the history ends with `record`.
bool StopSearch::stops_after(const wal::Record& record, const Event& event) const {
  return target_.bound == Bound::inclusive && is_target(record, event);
}

void StopSearch::note(const wal::Record& record, Event event) {
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
StopSearch::Outcome StopSearch::stop_before(const wal::Record& record) {
  const bool is_between = target_.time_us && record.lsn >= earliest_;
  return stop_at(is_between ? std::max(last_event_end_, earliest_) : record.lsn);
}

StopSearch::Outcome StopSearch::stop_at(Lsn end) {
  found_.end = end;
  if (end >= earliest_) return std::move(found_);
  return too_early(end);
}

StopSearch::Outcome StopSearch::stop_at_end(Lsn end) {
  if (is_reached_at_end(end)) return stop_at(end);
  if (passed_ != Lsn::none) return too_early(passed_);
  return std::nullopt;
}

/// Returns true if the target is reached although no record is there: everything before an LSN
/// is all that is wanted.
bool StopSearch::is_reached_at_end(Lsn end) const noexcept {
  if (target_.lsn) return target_.bound == Bound::exclusive && end >= *target_.lsn;
  return !has_target(target_);
}

bool StopSearch::is_target(const wal::Record& record, const Event& event) const {
  if (target_.lsn) return record.lsn >= *target_.lsn;
  if (target_.restore_point) {
    return event.kind == Event::Kind::restore_point && event.name == *target_.restore_point &&
           record.end >= earliest_;
  }
  return target_.transaction == record.header.txn &&
         (event.kind == Event::Kind::commit || event.kind == Event::Kind::rollback);
}

StopSearch::Outcome StopSearch::too_early(Lsn at) const {
  return fail(sqlstate::object_not_in_prerequisite_state,
              fmt::format("the recovery target at LSN {}, {}, is before the end of the backup at "
                          "LSN {}",
                          raw(at), describe_target(target_), raw(earliest_)));
}

RestoreOutcome restore_outcome(const RecoveryStop& stop, Lsn begins_again) {
  return {.end = stop.end,
          .begins_again = begins_again,
          .last_commit_us = stop.last_commit_us,
          .last_commit = stop.last_commit,
          .restore_point = stop.restore_point};
}

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

}  // namespace swizzle
