#include "sql-lite-frontend/session/replication/physical_stream.h"

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
      sent_(log_, command.timeline, command.from) {
  check_start();
  if (!slot_.empty()) take_slot();
}

PhysicalStream::~PhysicalStream() {
  session_.shared.log_senders.remove(session_.options.backend_pid);
  if (!slot_.empty()) log_.slots().release(slot_);
}

void PhysicalStream::check_start() {
  value_of(sent_.check_start());
  // A standby's redo leaves the last record to the next step: one that has all of an idle log could
  // not be read until something happens here.
  if (sent_.is_at_end() && !session_.shared.engine.is_standby())
    value_of(session_.shared.engine.checkpoint());
  // A first look, so that the error comes before the stream begins.
  value_of(sent_.check_kept());
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
  const auto piece = value_of(sent_.next());
  if (!piece) return std::nullopt;
  return Message{.lsn = piece->at, .bytes = std::string{as_text(piece->bytes)}, .end = piece->end};
}

bool PhysicalStream::awaits_more(const std::function<void()>& wake) {
  if (!is_at_end()) return false;
  sent_.end_with_mark();
  if (!follower_) follower_ = log_.follower(wake);
  return follower_->awaits_more_than(sent_.position());
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
                                   .sent = std::max(progress.sent, sent_.position()),
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
