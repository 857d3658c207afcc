#include "sql-lite-frontend/session/replication/physical_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// A slot's position is saved so often. After a crash a follower says itself where it is.
constexpr Duration kSavesPositionEvery = std::chrono::seconds{1};

}  // namespace

PhysicalStream::PhysicalStream(Session::State& session, const ReplicationCommand& command)
    : session_(session),
      counted_(session.shared.streams),
      log_(session.shared.engine.logical_log()),
      slot_(command.slot),
      reader_(log_.bytes()),
      timeline_(command.timeline == 0 ? log_.timeline() : command.timeline),
      position_(command.from) {
  heed_timeline();
  check_start();
  if (!slot_.empty()) take_slot();
}

PhysicalStream::~PhysicalStream() {
  session_.shared.log_senders.remove(session_.options.backend_pid);
  if (!slot_.empty()) log_.slots().release(slot_);
}

void PhysicalStream::heed_timeline() {
  const std::uint32_t present = log_.timeline();
  if (timeline_ == present || next_timeline_ != 0) return;
  const wal::TimelineHistory history = value_of(log_.history(present));
  const auto end = history.end_of(timeline_);
  if (!end) {
    throw_error(sqlstate::internal_error, "requested timeline {} is not in this server's history",
                timeline_);
  }
  if (position_ > *end) {
    throw sql_error(sqlstate::internal_error,
                    "requested starting point {} on timeline {} is not in this server's history",
                    lsn_text(position_), timeline_)
        .with_detail(fmt::format("This server's history forked from timeline {} at {}.", timeline_,
                                 lsn_text(*end)));
  }
  until_ = *end;
  next_timeline_ = present;
  for (const wal::TimelineEnd& older : history.older())
    if (older.timeline > timeline_) next_timeline_ = std::min(next_timeline_, older.timeline);
}

void PhysicalStream::check_start() {
  if (position_ > reader_->durable()) {
    throw_error(sqlstate::internal_error,
                "requested starting point {} is ahead of the WAL flush position of this server {}",
                lsn_text(position_), lsn_text(reader_->durable()));
  }
  // A standby's redo leaves the last record to the next step: one that has all of an idle log could
  // not be read until something happens here.
  if (position_ >= limit() && !session_.shared.engine.is_standby())
    value_of(session_.shared.engine.checkpoint());
  // A first look, so that the error comes before the stream begins.
  if (position_ < limit()) value_of(reader_->read(position_, limit()));
}

void PhysicalStream::take_slot() {
  const swizzle::Slot slot = value_of(log_.slots().acquire(slot_, session_.options.backend_pid));
  session_.slots_used = true;
  if (slot.is_physical()) return;
  log_.slots().release(slot_);
  throw SqlError{sqlstate::object_not_in_prerequisite_state,
                 "cannot use a logical replication slot for physical replication"};
}

std::optional<ChangeStream::Message> PhysicalStream::next() {
  session_.check_cancelled();
  // In this order: who sees the end of a timeline's log sees the timeline, too (Log::extend()).
  const Lsn durable = reader_->durable();
  heed_timeline();
  const Lsn end = std::min(durable, until_);
  if (position_ >= end) return std::nullopt;
  const Bytes bytes = value_of(reader_->read(position_, end));
  Message message{.lsn = position_, .bytes = std::string{as_text(bytes)}, .end = end};
  position_ = Lsn{raw(position_) + bytes.size()};
  return message;
}

bool PhysicalStream::awaits_more(const std::function<void()>& wake) {
  if (!is_at_end()) return false;
  if (!follower_) follower_ = log_.follower(wake);
  return follower_->awaits_more_than(position_);
}

void PhysicalStream::confirm(Lsn lsn) {
  if (slot_.empty()) return;
  const TimePoint now = Runtime::current().now();
  const bool saves = now - saved_at_ >= kSavesPositionEvery;
  if (saves) saved_at_ = now;
  value_of(log_.move_physical_slot(slot_, lsn, saves ? LogSlots::Save::now : LogSlots::Save::soon));
}

void PhysicalStream::show(const Progress& progress) {
  session_.shared.log_senders.put({.pid = session_.options.backend_pid,
                                   .application = session_.activity.application.load(),
                                   .catches_up = !is_at_end(),
                                   .sent = std::max(progress.sent, position_),
                                   .written = progress.written,
                                   .flushed = progress.flushed,
                                   .replayed = progress.replayed,
                                   .replied_at = progress.replied_at});
}

Duration PhysicalStream::timeout() const {
  return std::chrono::milliseconds{session_.settings.integer("wal_sender_timeout")};
}

Lsn advance_physical_slot(Session::State& session, const swizzle::Slot& slot, Lsn upto) {
  LogicalLog& log = session.shared.engine.logical_log();
  if (slot.restart == Lsn::none || slot.is_lost) {
    throw sql_error(sqlstate::object_not_in_prerequisite_state,
                    "replication slot \"{}\" cannot be advanced", slot.name)
        .with_detail("This slot has never previously reserved WAL, or it has been invalidated.");
  }
  const Lsn to = std::min(upto, log.durable());
  if (to < slot.restart) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "cannot advance replication slot to {}, minimum is {}", lsn_text(to),
                lsn_text(slot.restart));
  }
  value_of(log.slots().acquire(slot.name, session.options.backend_pid));
  session.slots_used = true;
  auto advanced = log.slots().advance(slot.name, to, to, LogSlots::Save::now);
  log.slots().release(slot.name);
  value_of(std::move(advanced));
  return to;
}

}  // namespace swizzle::sql
